from transformers import AttentionInterface, AutoModelForCausalLM, AutoTokenizer
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, AttentionMaskInterface
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

options = arguments(
    ("model", {"help": "a model's name or folder"}),
    ("--layer", {"type": int, "default": 0}),
    ("--step", {"type": int, "default": 1, "help": "0: the prompt; n: the n-th token after it"}),
    ("--prompt", {"default": "The quick brown fox jumps over the lazy dog. " * 40}),
    ("--attention", {"default": "sdpa", "help": "sdpa, flash_attention_2, ..."}),
    ("--dtype", {"default": "bfloat16"}),
)
real = ALL_ATTENTION_FUNCTIONS[options.attention]
calls = 0


def spy(module, query, key, value, attention_mask, scaling=None, **rest):
    """query (B, Hq, Nq, D); key, value (B, Hkv, Nk, D), after RoPE and cache; O (B, Nq, Hq, D)."""
    global calls
    mine = module.layer_idx == options.layer
    wanted, calls = mine and calls == options.step, calls + mine
    if wanted and options.replay:
        query, key, value = substitute(options, q=query, k=key, v=value)
    o, weights = real(module, query, key, value, attention_mask, scaling=scaling, **rest)
    if wanted:
        window = rest.get("sliding_window")
        keep(options, query, key, value, o.transpose(1, 2), {
            "scale": scaling, "softcap": rest.get("softcap"),
            "causal": query.shape[2] > 1 and getattr(module, "is_causal", True),
            "window": (window - 1, -1) if window else None,
            "engine": "transformers", "kernel": options.attention, "layer": options.layer})
    return o, weights


AttentionInterface.register("captured", spy)
AttentionMaskInterface.register("captured", ALL_MASK_ATTENTION_FUNCTIONS[options.attention])
device = "cuda" if torch.cuda.is_available() else "cpu"
model = AutoModelForCausalLM.from_pretrained(
    options.model, dtype=getattr(torch, options.dtype), attn_implementation="captured").to(device)
if options.prompt.startswith("ids:"):  # "ids:1,2,3": tokens as they are
    tokens = torch.tensor([[int(i) for i in options.prompt[4:].split(",")]], device=device)
else:
    tokens = AutoTokenizer.from_pretrained(options.model)(options.prompt, return_tensors="pt")
    tokens = tokens["input_ids"].to(device)
model.generate(tokens, max_new_tokens=options.step + 1, min_new_tokens=options.step + 1,
               do_sample=False)
finish(options, f"layer {options.layer} was not called {options.step + 1} times")
