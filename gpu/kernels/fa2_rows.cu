/* fa2_rows.cu: FlashAttention-2, forward, one thread a query row.  arXiv 2307.08691, Algorithm 1;
   first rung.

   What it does: a thread walks the keys in tiles of 16, keeps the running maximum and sum in
   registers and its output row in shared memory, and needs nobody else.
   What it costs: every thread reads all of K and V from global memory, one number at a time, and
   multiplies one number at a time; but the listing can be read off it, line by line. */
#include "tiles.h"

#define ROWS 32
#define KEYS 16

/* x . y as a chain of fused steps from 0. */
template <int HALF>
static __device__ float dot(const uint16_t *x, const uint16_t *y, int D)
{
    float sum = 0.0f;
    for (int d = 0; d < D; d++)
        sum = __fmaf_rn(unpack<HALF>(x[d]), unpack<HALF>(y[d]), sum);
    return sum;
}

template <int HALF>
static __global__ void __launch_bounds__(ROWS) fa2_rows_kernel(struct attention_args a)
{
    DYN_SHARED(shared);
    int D = a.D, head = blockIdx.y, batch = blockIdx.z, r = blockIdx.x * ROWS + threadIdx.x;
    int kv_head = head / (a.heads_q / a.heads_kv), seen = keys_seen(&a, r);
    const uint16_t *q = a.q + head_at(batch, head, a.heads_q, a.rows, D) + (int64_t)r * D;
    const uint16_t *k = a.k + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    const uint16_t *v = a.v + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    float *O = (float *)shared + threadIdx.x; /* column d at O[ROWS * d]: 32 lanes, 32 banks */
    float m = -INFINITY, l = 0.0f, S[KEYS];
    if (r >= a.rows)
        return;
    for (int d = 0; d < D; d++)
        O[ROWS * d] = 0.0f;
    for (int key0 = 0; key0 < seen; key0 += KEYS) {
        int count = seen - key0 < KEYS ? seen - key0 : KEYS;
        float m_old = m;
#pragma unroll
        for (int c = 0; c < KEYS; c++) {
            S[c] = 0.0f;
            if (c < count)
                S[c] = dot<HALF>(q, k + (int64_t)(key0 + c) * D, D);    /* QK */
            S[c] = __fmul_rn(S[c], a.scale);                            /* SCALE */
            S[c] = c < count ? S[c] : -INFINITY;                        /* MASK */
            m = fmaxf(m, S[c]);                                         /* ROW_MAX */
        }
        float shift = shift_of(m), decay = exponential(__fsub_rn(m_old, shift), a.hw);
        l = __fmul_rn(l, decay);                                        /* RESCALE */
        for (int d = 0; d < D; d++)
            O[ROWS * d] = __fmul_rn(O[ROWS * d], decay);
#pragma unroll
        for (int c = 0; c < KEYS; c++) {
            S[c] = exponential(__fsub_rn(S[c], shift), a.hw);           /* EXP */
            l = __fadd_rn(l, S[c]);                                     /* ROW_SUM */
            S[c] = unpack<HALF>((uint16_t)pack<HALF>(S[c], 0.0f));      /* ROUND_P */
        }
        for (int d = 0; d < D; d++) {
            float sum = O[ROWS * d];
#pragma unroll
            for (int c = 0; c < KEYS; c++)
                if (c < count)                                          /* PV */
                    sum = __fmaf_rn(S[c], unpack<HALF>(v[(int64_t)(key0 + c) * D + d]), sum);
            O[ROWS * d] = sum;
        }
    }
    uint16_t *o = a.o + head_at(batch, head, a.heads_q, a.rows, D) + (int64_t)r * D;
    for (int d = 0; d < D; d++)                                         /* NORMALIZE */
        O[ROWS * d] = seen > 0 ? __fdiv_rn(O[ROWS * d], l) : 0.0f;
    a.lse[head_at(batch, head, a.heads_q, a.rows, 1) + r] = __fadd_rn(m, poly_log(l)); /* LSE */
    for (int d = 0; d < D; d++)
        o[d] = (uint16_t)pack<HALF>(O[ROWS * d], 0.0f);                 /* STORE */
}

extern "C" void gpu_fa2_rows(struct attention_args a)
{
    void (*fa2_rows)(struct attention_args) = a.half ? fa2_rows_kernel<1> : fa2_rows_kernel<0>;
    dim3 grid((a.rows + ROWS - 1) / ROWS, a.heads_q, a.batch);
    LAUNCH(fa2_rows, grid, ROWS, FA2_ROWS_SHARED(a.D), a);
}
