import torch

from attention import attention


def flash_attn_varlen_func(q, k, v, max_seqlen_q, cu_seqlens_q, max_seqlen_k, seqused_k=None,
                           softmax_scale=None, causal=False, window_size=None, softcap=0.0,
                           block_table=None, out=None, fa_version=2, num_splits=0):
    n = int(seqused_k[0])
    kv = [c[block_table[0].long()].flatten(0, 1)[:n].transpose(0, 1)[None] for c in (k, v)]
    o, _ = attention(q.transpose(0, 1)[None], *kv, softmax_scale, causal)
    out.copy_(o[0].transpose(0, 1))
    return out


def layer(length, queries):
    """As FlashAttentionImpl.forward: caches filled, then one call by keywords."""
    page, D = 16, 64
    pool = torch.randn(2, 12, page, 2, D).to(torch.bfloat16)
    table = torch.tensor([[7, 3, 11, 0, 9, 1]], dtype=torch.int32)
    q = torch.randn(queries, 8, D).to(torch.bfloat16)
    out = torch.full_like(q, torch.nan)
    flash_attn_varlen_func(
        q=q, k=pool[0], v=pool[1], out=out, cu_seqlens_q=torch.tensor([0, queries]),
        max_seqlen_q=queries, seqused_k=torch.tensor([length], dtype=torch.int32),
        max_seqlen_k=length, softmax_scale=D**-0.5, causal=True, window_size=[-1, -1],
        block_table=table, softcap=0.0, fa_version=2, num_splits=0)
