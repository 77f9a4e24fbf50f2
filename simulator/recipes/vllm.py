os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # the hook must live where the kernel runs
options = arguments(
    ("model", {"help": "a model's name or folder"}),
    ("--layer", {"type": int, "default": 0}),
    ("--length", {"type": int, "default": 4096, "help": "keys that the captured query sees"}),
)
import vllm
import vllm.v1.attention.backends.flash_attn as backend

real = backend.flash_attn_varlen_func
layer = 0


def gathered(cache, ids, n):
    """(1, Hkv, n, D) out of pages of (page, tokens, Hkv, D)."""
    return cache[ids].flatten(0, 1)[:n].transpose(0, 1)[None]


def put(cache, ids, n, t):
    pages = cache[ids].flatten(0, 1)
    pages[:n] = t[0].transpose(0, 1)
    cache[ids] = pages.view(len(ids), *cache.shape[1:])


def spy(*args, **call):
    global layer
    if args or call.get("max_seqlen_q") != 1 or call.get("seqused_k") is None or \
            int(call["seqused_k"][0]) != options.length:
        return real(*args, **call)
    wanted, layer = layer == options.layer, layer + 1
    if not wanted:
        return real(**call)
    n, table, page = options.length, call["block_table"], call["k"].shape[1]
    ids = table[0, : -(-n // page)].long()
    kv = [gathered(call[key], ids, n) for key in "kv"]
    if options.replay:
        q, *kv = substitute(options, q=call["q"][None, :1].transpose(1, 2), k=kv[0], v=kv[1])
        call["q"][:1] = q[0].transpose(0, 1)
        put(call["k"], ids, n, kv[0])
        put(call["v"], ids, n, kv[1])
    result = real(**call)
    o = call["out"] if call.get("out") is not None else result
    keep(options, call["q"][None, :1].transpose(1, 2), *kv, o[None, :1].transpose(1, 2), {
        "scale": call.get("softmax_scale"), "softcap": call.get("softcap"),
        "window": tuple(call.get("window_size") or (-1, -1)), "engine": "vllm",
        "kernel": f"flash_attn_varlen_func, fa_version {call.get('fa_version')}",
        "num_splits": call.get("num_splits"), "page_size": page, "layer": options.layer,
        "max_seqlen_k": call.get("max_seqlen_k"), "capacity": table.shape[1] * page})
    return result


backend.flash_attn_varlen_func = spy
engine = vllm.LLM(options.model, enforce_eager=True, max_num_seqs=1, enable_prefix_caching=False,
                  max_model_len=options.length + 8)
tokens = [i % 1000 + 100 for i in range(options.length - 1)]
engine.generate({"prompt_token_ids": tokens},
                vllm.SamplingParams(temperature=0, max_tokens=2, ignore_eos=True))
finish(options, f"layer {options.layer} of {layer} called flash_attn_varlen_func for that length; "
                "if none did, another backend runs, or the function is called otherwise now")
