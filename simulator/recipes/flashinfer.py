#include program.py
import flashinfer

options = arguments(*program_arguments)
Wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper


def about(call, kernel, **more):
    if call.get("pos_encoding_mode", "NONE") != "NONE":
        refuse("a position encoding inside the kernel: Q and K are not what the scores are made of")
    left = call.get("window_left", -1)
    return {"scale": call.get("sm_scale"), "softcap": call.get("logits_soft_cap") or 0.0,
            "window": (left, -1) if left is not None and left >= 0 else None,
            "causal": bool(call.get("causal")), "engine": "flashinfer",
            "kernel": f"{kernel} {getattr(flashinfer, '__version__', '')}", **more}


def split(result):
    """O, and the LSE (to base 2) where it was asked for."""
    return result[:2] if isinstance(result, tuple) else (result, None)


def bound_call(function, args, keywords):
    bound = inspect.signature(function).bind(*args, **keywords)
    bound.apply_defaults()
    return dict(bound.arguments)


def hook_single(name):
    """q (Hq, D) or (Nq, Hq, D); k, v (N, Hkv, D), or (Hkv, N, D) with HND."""
    real = getattr(flashinfer, name)

    def spy(*args, **keywords):
        if not this_call(options):
            return real(*args, **keywords)
        call = bound_call(real, args, keywords)
        rows = (lambda t: t[None]) if call["q"].dim() == 2 else (lambda t: t)
        swap = call["kv_layout"] == "NHD"
        q = rows(call["q"]).transpose(0, 1)[None]
        k, v = (call[key].transpose(0, 1)[None] if swap else call[key][None] for key in "kv")
        if options.replay:
            q, k, v = substitute(options, q=q, k=k, v=v)
            call["q"] = q[0].transpose(0, 1).reshape(call["q"].shape)
            call["k"], call["v"] = ((t[0].transpose(0, 1) if swap else t[0]).contiguous()
                                    for t in (k, v))
        result = real(**call)
        o, lse = split(result)
        lse = None if lse is None else rows(lse).transpose(0, 1)[None]
        keep(options, q, k, v, rows(o).transpose(0, 1)[None], about(call, name), lse)
        return result

    setattr(flashinfer, name, spy)


def remember_plan(self, *args, **keywords):
    self.captured_plan = bound_call(real_plan, (self, *args), keywords)
    return real_plan(self, *args, **keywords)


def run(self, *args, **keywords):
    """Decode: q (B, Hq, D); pages (P, 2, S, Hkv, D), (P, 2, Hkv, S, D) or a pair of caches."""
    if not this_call(options):
        return real_run(self, *args, **keywords)
    call, plan = bound_call(real_run, (self, *args), keywords), self.captured_plan
    q, pages = call["q"], call["paged_kv_cache"]
    caches = list(pages) if isinstance(pages, (tuple, list)) else [pages[:, 0], pages[:, 1]]
    if getattr(self, "_kv_layout", "NHD") == "HND":
        caches = [c.transpose(1, 2) for c in caches]
    S, first = caches[0].shape[1], plan["indptr"].tolist()
    last = plan["last_page_len"].tolist()
    lengths = {(b - a - 1) * S + l for a, b, l in zip(first, first[1:], last)}
    if len(lengths) > 1:
        refuse(f"sequences of different lengths {sorted(lengths)}; one sequence is right")
    n, B = lengths.pop(), len(last)
    ids = plan["indices"][: first[-1]].view(B, -1).long().to(q.device)

    def read(c):
        return c[ids].flatten(1, 2)[:, :n].transpose(1, 2)

    kv = [read(c) for c in caches]
    if options.replay:
        stored_q, *kv = substitute(options, q=q[:, :, None], k=kv[0], v=kv[1])
        q.copy_(stored_q[:, :, 0])
        for c, t in zip(caches, kv):
            whole = c[ids].flatten(1, 2)
            whole[:, :n] = t.transpose(1, 2)
            c[ids] = whole.view(*ids.shape, *c.shape[1:])
    result = real_run(self, *args, **keywords)
    o, lse = split(result)
    lse = None if lse is None else lse[:, :, None]
    keep(options, q[:, :, None], *kv, o[:, :, None],
         about(plan, f"BatchDecode, backend {getattr(self, '_backend', '?')}", page_size=S), lse)
    return result


real_plan, real_run = Wrapper.plan, Wrapper.run
Wrapper.plan, Wrapper.run = remember_plan, run
hook_single("single_decode_with_kv_cache")
hook_single("single_prefill_with_kv_cache")
run_program(options)
