from flash_attn.flash_attn_interface import flash_attn_func, flash_attn_with_kvcache

__version__ = "stand-in"
