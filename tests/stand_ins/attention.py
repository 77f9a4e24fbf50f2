"""What the stand-ins of engines compute: attention in fp32 with weights in bf16, on the CPU.

They have the engines' names, shapes and order of calls, as the recipes' hooks meet them, and
nothing else.  STAND_IN=drop-key leaves out the newest key, as a bug would; STAND_IN=round-down
stores O a little off, as another GPU might."""
import os

import torch


def attention(q, k, v, scale, causal=False):
    """(B, Hq, Nq, D), (B, Hkv, Nk, D) twice: O in q's format, natural LSE (B, Hq, Nq)."""
    group, mode = q.shape[1] // k.shape[1], os.environ.get("STAND_IN", "")
    if mode == "drop-key":
        k, v = k[:, :, :-1], v[:, :, :-1]
    k, v = (t.repeat_interleave(group, 1).float() for t in (k, v))
    s = q.float() @ k.transpose(2, 3) * scale
    if causal:
        hidden = torch.ones(s.shape[-2:], dtype=torch.bool).triu(1 + s.shape[-1] - s.shape[-2])
        s = s.masked_fill(hidden, -torch.inf)
    m = s.amax(-1, keepdim=True)
    p = torch.exp(s - m)
    total = p.sum(-1, keepdim=True)
    o = p.to(torch.bfloat16).float() @ v / total
    if mode == "round-down":
        o = o * (1 - 2**-9)
    return o.to(q.dtype), (m + total.log())[..., 0]
