/* kernels.h: how a host runs the kernels: one function a kernel, plain C.

   Tensors are contiguous, (batch, heads, rows, D), on the device; 16-bit words hold bf16, or fp16
   where `half`.  Outputs are in the inputs' format, LSE fp32 and natural.  Query r sees keys
   0 .. r + keys - rows where `causal`, else all.  What a launch function cannot run is found by
   gpu/pair.c before. */
#ifndef FLASHULP_GPU_KERNELS_H
#define FLASHULP_GPU_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Compiled for the emulator's detector, beside the plain ones: names of their own. */
#ifdef FLASHULP_CHECKED
#define gpu_fa2_rows checked_fa2_rows
#define gpu_fa2_tiles checked_fa2_tiles
#define gpu_fa2 checked_fa2
#define gpu_splitk checked_splitk
#define gpu_fa1 checked_fa1
#define gpu_decode checked_decode
#define gpu_combine checked_combine
#define gpu_fa2_bwd checked_fa2_bwd
#endif

struct attention_args {
    const uint16_t *q, *k, *v;
    uint16_t *o;
    float *lse;
    int batch, heads_q, heads_kv, rows, keys, D;
    float scale;
    int causal, half;
    int hw; /* weights by the hardware's 2^x; otherwise by special_poly.h */
};

void gpu_fa2_rows(struct attention_args a);
void gpu_fa2_tiles(struct attention_args a);
void gpu_fa2(struct attention_args a);
void gpu_splitk(struct attention_args a);
void gpu_fa1(struct attention_args a);

/* What a group of keys leaves, and how groups become one output: decode.def. */
enum gpu_merge { GPU_MERGE_LSE, GPU_MERGE_MAX_SUM, GPU_MERGE_NORMALISED, GPU_MERGE_RUNNING };
struct decode_args {
    struct attention_args a; /* rows: 1 */
    enum gpu_merge merge;
    int splits;       /* groups */
    int tiles_each;   /* key tiles of a group; round-robin: not read */
    int round_robin;  /* every splits-th key tile, or neighbouring ones */
    int sum_rounded;  /* l sums the rounded weights */
    int narrow;       /* a group's output is stored in 16 bits */
    void *part_o;     /* (batch, heads_q, splits, D): fp32, or 16-bit words */
    float *part_m, *part_l; /* (batch, heads_q, splits); LSE merge: part_m holds the LSE */
};
void gpu_decode(struct decode_args d);
void gpu_combine(struct decode_args d);

struct backward_args {
    struct attention_args a;  /* o, lse: what forward stored */
    const uint16_t *d_o;      /* as q */
    uint16_t *dq, *dk, *dv;   /* as q, k, v */
    int copies;               /* of dQ; 0: one, by atomic adds */
};
void gpu_fa2_bwd(struct backward_args b);

#ifndef FLASHULP_CHECKED
void checked_fa2_rows(struct attention_args a);
void checked_fa2_tiles(struct attention_args a);
void checked_fa2(struct attention_args a);
void checked_splitk(struct attention_args a);
void checked_fa1(struct attention_args a);
void checked_decode(struct decode_args d);
void checked_combine(struct decode_args d);
void checked_fa2_bwd(struct backward_args b);
#endif

#ifdef __cplusplus
}
#endif

#endif
