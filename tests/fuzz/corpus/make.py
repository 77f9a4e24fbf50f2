"""Writes the seeds that lie at the readers' limits beside it: python3 make.py (standard library only)."""
import io
import json
import os
import struct
import zipfile
import zlib

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def npy(descr, shape, data, fortran=False, version=1):
    header = str({"descr": descr, "fortran_order": fortran, "shape": shape}).encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def put(name, data):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as f:
        f.write(data)


def npz(entries, comment=b""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as z:
        for name, data in entries:
            z.writestr(zipfile.ZipInfo(name), data)
        z.comment = comment
    return file.getvalue()


def safetensors(tensors, meta=None):
    header, data = {}, b""
    for name, dtype, shape, raw in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    if meta is not None:
        header["__metadata__"] = meta
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


put("npy/rank4.npy", npy("<u2", (1, 2, 1, 1), b"\x80\x3f\x00\x40"))
put("npy/fortran4.npy", npy("<f2", (1, 2, 1, 2), bytes(8), fortran=True, version=2))
put("npy/empty4.npy", npy("|V2", (3, 0, 2, 1), b"", version=3))
one = npy("<f4", (1,), b"\0\0\x80\x3f")
put("npz/longest.npz", npz([("n" * 127 + ".npy", one), ("m.npy", one)]))
put("npz/comment.npz", npz([("q.npy", npy("<u2", (2, 1), bytes(4)))], b"a comment"))
put("npz/nothing.npz", npz([]))
put("npz/torch.npz", npz([("a/data.pkl", b"\x80\x02}."), ("a/data/0", bytes(4))]))
put("safetensors/longest.safetensors", safetensors([("n" * 127, "F16", [1, 1, 1, 1], bytes(2))]))
put("safetensors/all.safetensors", safetensors(
    [("a", "F64", [1], bytes(8)), ("b", "F32", [], bytes(4)), ("c", "BF16", [2, 1], bytes(4)),
     ("d", "F8_E4M3", [1, 3], b"\x7f\x80\1"), ("e", "F8_E5M2", [0, 5], b""), ("f", "F16", [1, 1, 1], bytes(2))],
    {"scale": "0.5", "quote": "\"\\/\n\u00e9"}))
put("safetensors/nothing.safetensors", safetensors([]))
put("safetensors/only-metadata.safetensors", safetensors([], {}))
figures = {"SMs": 4096, "bf16": {"value": 1000000000, "unit": "TFLOP/s", "source": "s" * 159},
           "fp32": {"value": 1e-9, "unit": "TFLOP/s"}, "memory": {"source": "", "value": 1e9, "unit": "GB/s"},
           "boost clock": 1, "boost clock of tensor work": 0.5}
device = {"figures": figures, "meaning": "m" * 159, "architecture": "SM75", "name": "n" * 63}
put("device/limits.json", json.dumps(device, indent=1).replace(" 0.5", " 0.5" + 37 * "0").encode())
put("device/short.json", b'{"name":"X","architecture":"sm120","figures":{"SMs":1e2,'
    b'"boost clock":{"unit":"MHz","value":2.5E+3}}}')
put("device/zero.json", b'{"name":"Y","architecture":"sm80","figures":{"SMs":1,"fp32":10,"bf16":0.1}}')
put("lengths/two", b"0,3,8")
put("lengths/keys", b"0,3,8\0000,5,5")
put("lengths/empty", b"0,0,0,7")
put("lengths/limits", b"0,-1,9223372036854775807")
put("lengths/long", b",".join(b"%d" % i for i in range(41)) + b"\0" + b"0" + b",40" * 40)


def chunk(tag, data):
    head = tag + struct.pack("<Q", len(data)) + data
    return head + struct.pack("<I", zlib.crc32(head))


def names(*all):
    return struct.pack("<I", len(all)) + b"".join(struct.pack("<H", len(n)) + n for n in all)


# What two lanes did, their barrier, a race: behind a trace without steps.
with open("trace/none.trace", "rb") as f:
    whole = f.read()
lanes = [struct.pack("<8I2Q3I", 0, n, n, 0, 0, 4, 0, 7 + n, n, 128 * n, 0, 0, 1 + n) for n in range(2)]
sync = struct.pack("<8I2Q", 0, 0, 0, 3, 1, 0, 1, 9, 2, 2) + struct.pack("<12I2Q", 0, 0, 1, 1, 0, 1, 8, 3, 0, 0, 1, 7, 1, 0)
put("trace/lanes.trace", whole[:-16] + chunk(b"LANE", struct.pack("<I", 60) + names(b"a.cu") +
    struct.pack("<Q", 2) + b"".join(lanes)) + chunk(b"SYNC", struct.pack("<2I", 48, 64) + names(b"a race", b"a.cu") +
    struct.pack("<2Q", 1, 1) + sync) + whole[-16:])
