/* kernels.h: how a host runs the kernels: one function a kernel, plain C.

   Tensors are contiguous, (batch, heads, rows, D), on the device; 16-bit words hold bf16, or fp16
   where `half`.  Outputs are in the inputs' format, LSE fp32 and natural.  Query r sees keys
   0 .. r + keys - rows where `causal`, else all; one that sees none gets 0 and an LSE of -inf.  A
   NaN or an infinity of a key or a query reaches nothing that does not see it (FlashAttention's own
   kernels multiply it by the weight 0).  What a kernel does not take is found before its launch
   (gpu/pair.c). */
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
#define gpu_mma_probe checked_mma_probe
#define gpu_function_probe checked_function_probe
#define gpu_mma_peak checked_mma_peak
#endif

/* Keys of a tile: 64, or 32 where the accumulators of 256 columns take the registers. */
#define KEY_TILE(D) ((D) > 128 ? 32 : 64)
/* Bytes of dynamic shared memory of a block. */
#define FA2_ROWS_SHARED(D) (32 * (D) * 4)
#define FA2_TILES_SHARED(D) (3 * 32 * ((D) + 8) * 2 + 32 * 32 * 4)
#define FA2_SHARED(D) ((64 + 4 * KEY_TILE(D)) * (D) * 2)
#define FA1_SHARED(D) ((64 + 2 * KEY_TILE(D)) * (D) * 2)
/* splitk: columns that the warps exchange at a time. */
#define SPLITK_COLUMNS(D) ((D) > 128 ? 64 : (D))
#define SPLITK_SHARED(D)                                                                           \
    (2 * 16 * 4 * 4 + 4 * 16 * SPLITK_COLUMNS(D) * 4 + (16 + 2 * 64) * (D) * 2)
#define DECODE_SHARED(D) ((16 + 4 * KEY_TILE(D)) * (D) * 2)
/* fa2_bwd: rows of P, or of dS, that the warps exchange at a time; P and dS have a place of their
   own where there is room. */
#define FA2_BWD_ROWS(D) ((D) > 128 ? 32 : 64)
#define FA2_BWD_PLACES(D) ((D) > 128 ? 1 : 2)
#define FA2_BWD_SHARED(D)                                                                          \
    ((2 * 64 + 2 * KEY_TILE(D)) * (D) * 2 +                                                        \
     FA2_BWD_PLACES(D) * FA2_BWD_ROWS(D) * KEY_TILE(D) * 2)

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

/* probe.cu: operands and results, on the device. */
enum probe_function { PROBE_EX2, PROBE_LG2, PROBE_RCP, PROBE_FUNCTIONS };
struct probe_args {
    const uint16_t *a, *b; /* (count, 16) */
    const float *c;        /* count */
    float *d;              /* count results */
    int64_t count;
    int half;
    enum probe_function function;
    uint32_t first;
};
void gpu_mma_probe(struct probe_args p);
void gpu_function_probe(struct probe_args p);
/* Returns the floating-point operations launched. */
double gpu_mma_peak(int blocks, int times, float *out);

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
