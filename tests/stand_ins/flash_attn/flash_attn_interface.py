import torch

from attention import attention


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1),
                    softcap=0.0, alibi_slopes=None, deterministic=False, return_attn_probs=False):
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    o, lse = attention(*(t.transpose(1, 2) for t in (q, k, v)), scale, causal)
    o = o.transpose(1, 2).contiguous()
    return (o, lse, None) if return_attn_probs else o


def flash_attn_with_kvcache(q, k_cache, v_cache, k=None, v=None, rotary_cos=None, rotary_sin=None,
                            cache_seqlens=None, cache_batch_idx=None, cache_leftpad=None,
                            block_table=None, softmax_scale=None, causal=False,
                            window_size=(-1, -1), softcap=0.0, rotary_interleaved=True,
                            alibi_slopes=None, num_splits=0, return_softmax_lse=False):
    """Appends k and v, then attends to all; pages are gathered through block_table."""
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    n = int(cache_seqlens[0]) if torch.is_tensor(cache_seqlens) else cache_seqlens
    page = k_cache.shape[1]
    for cache, new in ((k_cache, k), (v_cache, v)):
        for b in range(len(q) if new is not None else 0):
            for i in range(new.shape[1]):
                row = n + i
                at = (b, row) if block_table is None else (block_table[b, row // page], row % page)
                cache[at] = new[b, i]
    n += 0 if k is None else k.shape[1]
    kv = [c if block_table is None else c[block_table.long()].flatten(1, 2)
          for c in (k_cache, v_cache)]
    o, lse = attention(q.transpose(1, 2), *(c[:, :n].transpose(1, 2) for c in kv), scale, causal)
    o = o.transpose(1, 2).contiguous()
    return (o, lse) if return_softmax_lse else o
