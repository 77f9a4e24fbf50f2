"""A user's program: single decoding and prefill, then two sequences over pages."""
import sys

import flashinfer
import torch


def draw(*shape):
    return torch.randn(*shape).to(torch.bfloat16)


torch.manual_seed(int(sys.argv[1]))
flashinfer.single_decode_with_kv_cache(draw(4, 64), draw(70, 2, 64), draw(70, 2, 64),
                                       return_lse=True)
flashinfer.single_prefill_with_kv_cache(draw(9, 4, 64), draw(2, 30, 64), draw(2, 30, 64),
                                        causal=True, kv_layout="HND", return_lse=True)
for layout, shape in (("NHD", (8, 2, 16, 2, 64)), ("HND", (8, 2, 2, 16, 64))):
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(None, layout)
    wrapper.plan(torch.tensor([0, 3, 6]), torch.tensor([5, 1, 7, 0, 2, 4]), torch.tensor([9, 9]),
                 4, 2, 64, 16)
    wrapper.run(draw(2, 4, 64), draw(*shape), return_lse=layout == "NHD")
