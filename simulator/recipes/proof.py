import numpy as np


def attention(q, k, v, rows, about):
    """Rows of one head in fp64: the outputs, the natural LSE, and sum of weight x |value|."""
    s = q[rows] @ k.T * about["scale"]
    if about["softcap"]:
        s = about["softcap"] * np.tanh(s / about["softcap"])
    left, right = about["window"]
    diagonal = rows[:, None] + len(k) - len(q)  # causal is aligned to the bottom right
    key = np.arange(len(k))[None]
    right = 0 if about["causal"] else right
    seen = (key <= diagonal + right) | (right < 0)
    seen &= (key >= diagonal - left) | (left < 0)
    s = np.where(seen, s, -np.inf)
    m = s.max(axis=1, keepdims=True)
    p = np.exp(s - m)
    total = p.sum(axis=1, keepdims=True)
    return p @ v / total, (m + np.log(total))[:, 0], p @ np.abs(v) / total


def prove(q, k, v, o, lse, about, unit):
    """Is O attention of Q, K, V?  All are fp64 arrays (B, H, N, D), lse (B, H, N) or None; unit is
    half the spacing of O's format at 1.  Returns (None, what was found) or (why not, None)."""
    B, Hq, Nq, _ = q.shape
    if o.shape != q.shape:
        return f"O has shape {o.shape}, Q {q.shape}", None
    if k.shape != v.shape or k.shape[0] != B or Hq % k.shape[1]:
        return f"K {k.shape} and V {v.shape} do not go with Q {q.shape}", None
    rows = np.unique(np.linspace(0, Nq - 1, min(Nq, 8)).astype(int))
    worst, error2, size2, lse_off, base_2_off = 0.0, 0.0, 0.0, 0.0, 0.0
    for b in range(B):
        for h in range(Hq):
            kv = h // (Hq // k.shape[1])
            want, L, size = attention(q[b, h], k[b, kv], v[b, kv], rows, about)
            off = np.abs(o[b, h][rows] - want)
            share = off / np.maximum(4 * unit * size, 1e-30)
            if not (share <= 1).all():  # also when it is NaN
                n, d = np.unravel_index(np.argmax(np.where(share <= 1, 0, np.inf)), share.shape)
                return (f"O[{b},{h},{rows[n]},{d}] is {o[b, h][rows[n], d]:.7g}, fp64 attention of "
                        f"Q, K, V gives {want[n, d]:.7g}"), None
            worst = max(worst, share.max())
            error2, size2 = error2 + (off**2).sum(), size2 + (want**2).sum()
            if lse is not None:
                got = lse[b, h][rows]
                lse_off = max(lse_off, np.abs(got - L).max())
                base_2_off = max(base_2_off, np.abs(got * np.log(2) - L).max())
    if error2 > size2 / 256:
        return "O is so small that rounding alone could have made it: another layer or input", None
    found = {"share": worst}
    if lse is not None:
        if not min(lse_off, base_2_off) < 0.02:
            return "the LSE is that of these scores in neither base, e or 2", None
        found["lse_base"] = "e" if lse_off <= base_2_off else "2"
    return None, found
