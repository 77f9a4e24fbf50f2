import math

import torch

from attention import attention

__version__ = "stand-in"


def single_decode_with_kv_cache(q, k, v, kv_layout="NHD", pos_encoding_mode="NONE",
                                use_tensor_cores=False, q_scale=None, k_scale=None, v_scale=None,
                                window_left=-1, logits_soft_cap=None, sm_scale=None,
                                rope_scale=None, rope_theta=None, return_lse=False):
    kv = [(t.transpose(0, 1) if kv_layout == "NHD" else t)[None] for t in (k, v)]
    o, lse = attention(q[None, :, None], *kv, sm_scale or q.shape[-1] ** -0.5)
    return (o[0, :, 0], lse[0, :, 0] / math.log(2)) if return_lse else o[0, :, 0]


def single_prefill_with_kv_cache(q, k, v, scale_q=None, scale_k=None, scale_v=None, o_dtype=None,
                                 custom_mask=None, packed_custom_mask=None, causal=False,
                                 kv_layout="NHD", pos_encoding_mode="NONE", sm_scale=None,
                                 window_left=-1, logits_soft_cap=None, return_lse=False):
    kv = [(t.transpose(0, 1) if kv_layout == "NHD" else t)[None] for t in (k, v)]
    o, lse = attention(q.transpose(0, 1)[None], *kv, sm_scale or q.shape[-1] ** -0.5, causal)
    o, lse = o[0].transpose(0, 1), lse[0].T / math.log(2)
    return (o, lse) if return_lse else o


class BatchDecodeWithPagedKVCacheWrapper:
    def __init__(self, float_workspace_buffer, kv_layout="NHD", backend="auto"):
        self._kv_layout, self._backend = kv_layout, backend

    def plan(self, indptr, indices, last_page_len, num_qo_heads, num_kv_heads, head_dim, page_size,
             pos_encoding_mode="NONE", window_left=-1, logits_soft_cap=None, q_data_type=None,
             kv_data_type=None, data_type=None, sm_scale=None):
        self.table, self.scale = (indptr, indices, last_page_len), sm_scale or head_dim**-0.5

    def run(self, q, paged_kv_cache, *args, q_scale=None, out=None, lse=None, return_lse=False):
        indptr, indices, last = self.table
        pages = paged_kv_cache
        caches = pages if isinstance(pages, tuple) else (pages[:, 0], pages[:, 1])
        if self._kv_layout == "HND":
            caches = [c.transpose(1, 2) for c in caches]
        os, lses = [], []
        for b in range(len(q)):
            ids = indices[indptr[b] : indptr[b + 1]].long()
            n = (len(ids) - 1) * caches[0].shape[1] + int(last[b])
            kv = [c[ids].flatten(0, 1)[:n].transpose(0, 1)[None] for c in caches]
            o, lse = attention(q[b][None, :, None], *kv, self.scale)
            os.append(o[0, :, 0])
            lses.append(lse[0, :, 0] / math.log(2))
        o = torch.stack(os)
        return (o, torch.stack(lses)) if return_lse else o
