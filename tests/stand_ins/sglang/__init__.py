"""The model runs in a process of its own, which is spawned and so imports the main script again."""
import multiprocessing
from types import SimpleNamespace

import torch


class Mode:
    def __init__(self, decode):
        self.decode = decode

    def is_decode(self):
        return self.decode


def scheduler(model, n, tokens):
    from sglang.srt.layers.radix_attention import RadixAttention

    torch.manual_seed(int(model))
    layers = [RadixAttention(i) for i in range(2)]
    buffers = [torch.randn(2, 200, 2, 64).to(torch.bfloat16) for _ in layers]
    pool = SimpleNamespace(get_kv_buffer=lambda i: (buffers[i][0], buffers[i][1]))
    rows = torch.randperm(200)[None, :100].int()
    for step in range(tokens):
        queries, length = (n, n) if step == 0 else (1, n + step)
        batch = SimpleNamespace(
            forward_mode=Mode(step > 0), seq_lens=torch.tensor([length]), token_to_kv_pool=pool,
            req_pool_indices=torch.tensor([0]), req_to_token_pool=SimpleNamespace(req_to_token=rows),
            out_cache_loc=rows[0, length - queries : length].long())
        for layer in layers:
            q, k, v = (torch.randn(queries, heads * 64).to(torch.bfloat16) for heads in (8, 2, 2))
            layer(q, k, v, batch)


class Engine:
    def __init__(self, model_path, attention_backend, disable_cuda_graph, disable_radix_cache):
        assert disable_cuda_graph and disable_radix_cache
        self.model = model_path

    def generate(self, input_ids, sampling_params):
        work = multiprocessing.get_context("spawn").Process(
            target=scheduler, args=(self.model, len(input_ids), sampling_params["max_new_tokens"]))
        work.start()
        work.join()

    def shutdown(self):
        pass
