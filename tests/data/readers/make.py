"""Writes the golden files beside it: python3 make.py (needs numpy, ml_dtypes, safetensors)."""
import os
import numpy as np
import ml_dtypes
from safetensors.numpy import save_file

os.chdir(os.path.dirname(os.path.abspath(__file__)))
a = 10.0 * np.arange(2)[:, None] + np.arange(3)[None, :] - 0.5


def npy(name, array, version=None):
    with open(name, "wb") as f:
        np.lib.format.write_array(f, array, version=version)


npy("v1.npy", a.astype("<f4"), (1, 0))
npy("v2.npy", a.astype("<f8"), (2, 0))
npy("v3.npy", a.astype("<f2"), (3, 0))
npy("fortran.npy", np.asfortranarray(a.astype("<f8")))
npy("bf16.npy", a.astype(ml_dtypes.bfloat16))
npy("big.npy", a.astype(">f4"))
npy("object.npy", np.array([None, 1], dtype=object))
npy("int64.npy", np.arange(3))
npy("struct.npy", np.zeros(2, dtype=[("x", "<f4"), ("y", "<f4")]))
npy("scalar.npy", np.float32(2.5))
npy("empty.npy", np.zeros((0, 4), "<f4"))
words = a.astype(ml_dtypes.bfloat16).view(np.uint16)
np.savez("stored.npz", q=words, k=2 * a.astype("<f4"), v=np.asfortranarray(3 * a))
np.savez_compressed("compressed.npz", q=a)
save_file({"q": a.astype(ml_dtypes.bfloat16), "k": (2 * a).astype("<f4"), "v": 3 * a,
           "s": np.array([1.0, -448.0], dtype=ml_dtypes.float8_e4m3fn)},
          "official.safetensors", metadata={"scale": "0.5", "engine": "a \"quoted\" name"})
