import argparse
import os
import sys

import torch
from safetensors import safe_open
from safetensors.torch import save_file

UNIT = {torch.bfloat16: 2**-8, torch.float16: 2**-11, torch.float32: 2**-11}  # tf32 is allowed


def refuse(why):
    sys.exit(f"refused, nothing saved: {why}")


def arguments(*more):
    parser = argparse.ArgumentParser()
    parser.add_argument("file", help="the capture, FILE.safetensors")
    parser.add_argument("name", help="the output is stored as o.NAME: h200, b200, ...")
    parser.add_argument("--replay", action="store_true",
                        help="the file's own Q, K, V take the place of this run's")
    for flag, keywords in more:
        parser.add_argument(flag, **keywords)
    options = parser.parse_args()
    if not options.name.replace("-", "").replace("_", "").isalnum():
        refuse(f"{options.name}: letters, digits, - and _ are right in a name")
    if options.replay and not os.path.exists(options.file):
        refuse(f"{options.file}: --replay needs the capture of the first GPU")
    return options


def stored(path):
    with safe_open(path, "pt") as f:
        return {key: f.get_tensor(key) for key in f.keys()}, dict(f.metadata() or {})


def substitute(options, **live):
    """The stored q, k, v, in place of the live ones: (B, H, N, D), of the same shapes."""
    tensors, _ = stored(options.file)
    for key, t in live.items():
        if tensors[key].shape != t.shape or tensors[key].dtype != t.dtype:
            refuse(f"{key} is {tuple(t.shape)} {t.dtype} here and {tuple(tensors[key].shape)} "
                   f"{tensors[key].dtype} in the capture; the same model and length are right")
    return [tensors[key].to(t.device) for key, t in live.items()]


def keep(options, q, k, v, o, about, lse=None):
    """Proves that O is attention of Q, K, V, all (B, H, N, D), and saves; lse is (B, H, N)."""
    about = {"scale": q.shape[-1] ** -0.5, "causal": False, "window": (-1, -1), "softcap": 0.0,
             **{key: value for key, value in about.items() if value is not None}}
    host = {key: t.detach().to("cpu", copy=True).contiguous()
            for key, t in dict(q=q, k=k, v=v, o=o, lse=lse).items() if t is not None}
    number = {key: t.double().numpy() for key, t in host.items()}
    why, found = prove(number["q"], number["k"], number["v"], number["o"], number.get("lse"),
                       about, UNIT[o.dtype])
    if why:
        refuse(why)
    run = {key: about.pop(key) for key in list(about)
           if key not in ("scale", "causal", "window", "softcap")}
    if torch.cuda.is_available():
        device = torch.cuda.get_device_properties(q.device)
        run |= {"device": device.name, "sms": device.multi_processor_count}
    else:
        run |= {"device": "cpu"}
    run |= {"lse_base": found["lse_base"]} if lse is not None else {}
    tensors, meta = {key: host[key] for key in "qkv"}, {}
    if options.replay:
        tensors, meta = stored(options.file)
        for key in "qkv":
            if not torch.equal(tensors[key].view(torch.uint8), host[key].view(torch.uint8)):
                refuse(f"the kernel did not run on the stored {key}")
    else:
        meta = {key: str(value) for key, value in (about | run).items()} | {"layout": "bhnd"}
    tensors[f"o.{options.name}"] = host["o"]
    if lse is not None:
        tensors[f"lse.{options.name}"] = host["lse"].float()
    meta |= {f"{key}.{options.name}": str(value) for key, value in run.items()}
    save_file(tensors, options.file + ".part", meta)
    os.replace(options.file + ".part", options.file)
    print(f"{options.file}: o.{options.name} saved; fp64 attention of the same Q, K, V agrees, "
          f"largest error {found['share']:.2f} of what is allowed", flush=True)
    print(f"next: flashulp audit {options.file}", flush=True)


def finish(options, missing):
    if not os.path.exists(options.file) or f"o.{options.name}" not in stored(options.file)[0]:
        refuse(missing)
