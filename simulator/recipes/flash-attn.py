#include program.py
import flash_attn
import flash_attn.flash_attn_interface

options = arguments(*program_arguments)


def by_head(t):
    """(B, N, H, D) as (B, H, N, D)."""
    return t.transpose(1, 2)


def about(call, kernel, **more):
    causal = bool(call.get("causal"))
    return {"scale": call.get("softmax_scale"), "softcap": call.get("softcap"), "causal": causal,
            "window": tuple(call.get("window_size") or (-1, -1)), "engine": "flash-attn",
            "kernel": f"{kernel} {getattr(flash_attn, '__version__', '')}", **more}


def dense(real, call):
    """flash_attn_func: q, k, v (B, N, H, D)."""
    if options.replay:
        q, k, v = substitute(options, **{key: by_head(call[key]) for key in "qkv"})
        call.update({key: by_head(t).contiguous() for key, t in dict(q=q, k=k, v=v).items()})
    result = real(**call)
    o, lse = result[:2] if isinstance(result, tuple) else (result, None)
    keep(options, *(by_head(call[key]) for key in "qkv"), by_head(o),
         about(call, "flash_attn_func"), lse)
    return result


def cache(real, call):
    """flash_attn_with_kvcache: q (B, Nq, H, D); caches (B, S, H, D), or pages and a block table."""
    caches, table, new = (call["k_cache"], call["v_cache"]), call["block_table"], call["k"]
    B = len(call["q"])
    lengths = call["cache_seqlens"]
    lengths = caches[0].shape[1] if lengths is None else lengths
    lengths = lengths.tolist() if torch.is_tensor(lengths) else [lengths] * B
    n = lengths[0] + (0 if new is None else new.shape[1])
    if len(set(lengths)) > 1:
        refuse(f"sequences of different lengths {lengths}; one sequence is right")
    if call["cache_batch_idx"] is not None or call["rotary_cos"] is not None:
        refuse("cache_batch_idx and rotary embedding inside the kernel are not read here")
    page = caches[0].shape[1]
    at = (torch.arange(B), slice(None)) if table is None else table[:, : -(-n // page)].long()

    def read(c):
        return (c if table is None else c[at].flatten(1, 2))[:, :n].transpose(1, 2)

    def write(c, t):
        whole = c if table is None else c[at].flatten(1, 2)
        whole[:, :n] = t.transpose(1, 2)
        if table is not None:
            c[at] = whole.view(*at.shape, *c.shape[1:])

    if options.replay:
        q, *kv = substitute(options, q=by_head(call["q"]), k=read(caches[0]), v=read(caches[1]))
        call["q"] = by_head(q).contiguous()
        for c, t in zip(caches, kv):
            write(c, t)
        if new is not None:
            call["k"], call["v"] = (t[:, :, lengths[0]:].transpose(1, 2).contiguous() for t in kv)
    result = real(**call)
    o, lse = result[:2] if isinstance(result, tuple) else (result, None)
    keep(options, by_head(call["q"]), *(read(c) for c in caches), by_head(o),
         about(call, "flash_attn_with_kvcache", num_splits=call.get("num_splits"), page_size=page,
               capacity=page if table is None else table.shape[1] * page), lse)
    return result


def hook(name, handler):
    real = getattr(flash_attn, name)

    def spy(*args, **keywords):
        if not this_call(options):
            return real(*args, **keywords)
        bound = inspect.signature(real).bind(*args, **keywords)
        bound.apply_defaults()
        return handler(real, dict(bound.arguments))

    for module in (flash_attn, flash_attn.flash_attn_interface):
        setattr(module, name, spy)


hook("flash_attn_func", dense)
hook("flash_attn_with_kvcache", cache)
run_program(options)
