import torch

from attention import attention


class RadixAttention(torch.nn.Module):
    def __init__(self, layer_id):
        super().__init__()
        self.tp_q_head_num, self.tp_k_head_num, self.head_dim = 8, 2, 64
        self.scaling, self.layer_id, self.logit_cap = 0.125, layer_id, 0.0
        self.sliding_window_size = -1

    def forward(self, q, k, v, forward_batch, save_kv_cache=True):
        """Stores the new keys and values, then reads all of the request's."""
        batch = forward_batch
        caches = batch.token_to_kv_pool.get_kv_buffer(self.layer_id)
        for cache, new in zip(caches, (k, v)):
            cache[batch.out_cache_loc] = new.view(-1, self.tp_k_head_num, self.head_dim)
        n = int(batch.seq_lens[0])
        rows = batch.req_to_token_pool.req_to_token[batch.req_pool_indices[0], :n].long()
        heads = q.view(1, -1, self.tp_q_head_num, self.head_dim).transpose(1, 2)
        o, _ = attention(heads, *(c[rows].transpose(0, 1)[None] for c in caches), self.scaling,
                         causal=True)
        return o.transpose(1, 2).reshape(q.shape)
