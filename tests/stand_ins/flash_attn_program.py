"""A user's program: one call over dense tensors, one over pages with a key appended."""
import torch
from flash_attn import flash_attn_func, flash_attn_with_kvcache


def draw(*shape):
    return torch.randn(*shape).to(torch.bfloat16)


torch.manual_seed(int(__import__("sys").argv[1]))
flash_attn_func(draw(2, 12, 4, 32), draw(2, 20, 2, 32), draw(2, 20, 2, 32), causal=True,
                return_attn_probs=True)
table = torch.tensor([[3, 0, 5, 6], [1, 2, 4, 7]], dtype=torch.int32)
flash_attn_with_kvcache(draw(2, 1, 4, 32), draw(8, 16, 2, 32), draw(8, 16, 2, 32),
                        k=draw(2, 1, 2, 32), v=draw(2, 1, 2, 32), block_table=table,
                        cache_seqlens=torch.tensor([36, 36], dtype=torch.int32), causal=True,
                        return_softmax_lse=True)
