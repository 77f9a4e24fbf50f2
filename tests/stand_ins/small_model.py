"""Saves a small random Llama, with 4 query heads on 2 key heads, in the folder named."""
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(7)
LlamaForCausalLM(LlamaConfig(
    vocab_size=128, hidden_size=128, intermediate_size=128, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, head_dim=32,
    initializer_range=0.3)).save_pretrained(sys.argv[1])
