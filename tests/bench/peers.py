"""numpy and torch for bench_peers.c: says which are here, then does what each line asks and answers
with the seconds of processor time it took."""
import importlib
import sys
import time

N, D, FLOATS = 1024, 64, 1 << 20


def load(name):
    try:
        module = importlib.import_module(name)
    except Exception:  # not installed, or broken: either way not a peer
        module = None
    print(name, module.__version__ if module else "-", flush=True)
    return module


numpy, torch = load("numpy"), load("torch")
work = {}
if numpy:
    random = numpy.random.default_rng(1)
    q, k, v = (random.standard_normal((N, D), dtype=numpy.float32) for _ in range(3))
    x = random.standard_normal(FLOATS, dtype=numpy.float32)

    def attention():
        s = (q @ k.T) * numpy.float32(0.125)
        p = numpy.exp(s - s.max(axis=1, keepdims=True))
        return (p @ v) / p.sum(axis=1, keepdims=True)

    def to_bf16():
        bits = x.view(numpy.uint32)
        return (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000

    work["numpy attention"], work["numpy round"] = attention, to_bf16
if torch:
    torch.set_num_threads(1)
    tensors = [torch.randn(1, 1, N, D) for _ in range(3)]
    floats = torch.randn(FLOATS)
    work["torch attention"] = lambda: torch.nn.functional.scaled_dot_product_attention(*tensors)
    work["torch round"] = lambda: floats.to(torch.bfloat16).to(torch.float32)

for line in sys.stdin:
    start = time.process_time()
    work[line.strip()]()
    print(time.process_time() - start, flush=True)
