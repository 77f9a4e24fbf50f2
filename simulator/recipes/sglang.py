options = arguments(
    ("model", {"help": "a model's name or folder"}),
    ("--layer", {"type": int, "default": 0}),
    ("--length", {"type": int, "default": 4096, "help": "keys that the captured query sees"}),
    ("--backend", {"default": "triton", "help": "--attention-backend: triton, fa3, flashinfer"}),
)
from sglang.srt.layers.radix_attention import RadixAttention

real = RadixAttention.forward


def pools(batch):
    """Where keys and values lie, and which rows are the request's: in the batch or its context."""
    if hasattr(batch, "token_to_kv_pool"):
        return batch.token_to_kv_pool, batch.req_to_token_pool
    from sglang.srt.model_executor import forward_context
    return forward_context.get_token_to_kv_pool(), forward_context.get_req_to_token_pool()


def spy(self, q, k, v, batch, *args, **call):
    n = options.length
    if self.layer_id != options.layer or not batch.forward_mode.is_decode() or \
            int(batch.seq_lens[0]) != n:
        return real(self, q, k, v, batch, *args, **call)
    pool, requests = pools(batch)
    rows = requests.req_to_token[batch.req_pool_indices[0], :n].long()
    caches = pool.get_kv_buffer(self.layer_id)
    if options.replay:
        live = q.view(-1, self.tp_q_head_num, self.head_dim)[:1].transpose(0, 1)[None]
        kv = [cache[rows].transpose(0, 1)[None] for cache in caches]
        stored_q, *stored_kv = substitute(options, q=live, k=kv[0], v=kv[1])
        q = stored_q.reshape(q.shape)
        for cache, t in zip(caches, stored_kv):
            cache[rows] = t[0].transpose(0, 1)
        k, v = (t[0, :, -1].reshape(old.shape) for t, old in zip(stored_kv, (k, v)))
    o = real(self, q, k, v, batch, *args, **call)  # also stores the newest key and value
    heads = (1, 1, self.tp_q_head_num, self.head_dim)
    kv = [cache[rows].transpose(0, 1)[None] for cache in caches]
    keep(options, q.reshape(heads).transpose(1, 2), *kv, o.reshape(heads).transpose(1, 2), {
        "scale": self.scaling, "softcap": self.logit_cap, "engine": "sglang",
        "window": (self.sliding_window_size, -1) if self.sliding_window_size > 0 else None,
        "kernel": options.backend, "layer": self.layer_id})
    return o


RadixAttention.forward = spy  # at import: the engine's own process imports this file, too

if __name__ == "__main__":
    import sglang

    engine = sglang.Engine(model_path=options.model, attention_backend=options.backend,
                           disable_cuda_graph=True, disable_radix_cache=True)
    tokens = [i % 1000 + 100 for i in range(options.length - 1)]
    engine.generate(input_ids=tokens, sampling_params={"temperature": 0, "max_new_tokens": 3,
                                                       "ignore_eos": True})
    engine.shutdown()
    finish(options, f"layer {options.layer} never decoded with {options.length} keys")
