import torch

from vllm.v1.attention.backends import flash_attn as backend


class SamplingParams:
    def __init__(self, temperature, max_tokens, ignore_eos):
        self.tokens = max_tokens


class LLM:
    def __init__(self, model, **settings):
        assert settings["enforce_eager"] and settings["max_num_seqs"] == 1
        torch.manual_seed(int(model))

    def generate(self, prompt, sampling):
        n = len(prompt["prompt_token_ids"])
        for step in range(sampling.tokens):
            for _ in range(2):  # layers
                backend.layer(n + step, n if step == 0 else 1)
