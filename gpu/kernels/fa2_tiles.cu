/* fa2_tiles.cu: FlashAttention-2, forward, by tiles in shared memory.  arXiv 2307.08691, Algorithm
   1; second rung.

   What it does: a block owns 32 query rows, four neighbouring lanes a row.  Of a tile of 32 keys
   each lane takes the columns a tensor core would give it (2t, 2t + 1 of every eight); of the
   output it takes every fourth column.
   What changed from fa2_rows.cu: K and V are read from global memory once a block, not once a row;
   a row has four workers, so its maximum and sum meet by shuffles, its weights in shared memory.
   What it costs: 2 barriers a tile; still one product at a time; (32 + 2 x 32) x D x 2 bytes and
   the weights, 4 KiB, of shared memory. */
#include "tiles.h"

#define ROWS 32
#define KEYS 32
#define PAD 8 /* numbers behind every row, so that rows begin in different banks */

/* Rows first .. of a (count x D) matrix, zeros past its end; by everyone. */
template <int D>
static __device__ __forceinline__ void copy_tile(uint16_t *tile, const uint16_t *matrix, int first,
                                                 int rows, int count)
{
    for (int n = threadIdx.x; n < rows * D; n += THREADS) {
        int row = n / D, d = n % D;
        tile[row * (D + PAD) + d] =
            first + row < count ? matrix[(int64_t)(first + row) * D + d] : 0;
    }
}

/* The lane's n-th key of a tile. */
static __device__ __forceinline__ int lane_key(int n)
{
    return 8 * (n / 2) + 2 * (threadIdx.x & 3) + n % 2;
}

/* S = scale q K^T for the lane's eight keys. */
template <int D, int HALF>
static __device__ __forceinline__ void lane_scores(float S[KEYS / 4], const uint16_t *q,
                                                   const uint16_t *K, float scale, int count)
{
#pragma unroll
    for (int n = 0; n < KEYS / 4; n++)
        S[n] = 0.0f;
    for (int d = 0; d < D; d++)
#pragma unroll
        for (int n = 0; n < KEYS / 4; n++)                              /* QK */
            S[n] =
                __fmaf_rn(unpack<HALF>(q[d]), unpack<HALF>(K[lane_key(n) * (D + PAD) + d]), S[n]);
#pragma unroll
    for (int n = 0; n < KEYS / 4; n++) {
        S[n] = __fmul_rn(S[n], scale);                                  /* SCALE */
        S[n] = lane_key(n) < count ? S[n] : -INFINITY;                  /* MASK */
    }
}

/* m, l and O relative to the new maximum; the rounded weights go to the row's place in P. */
template <int D, int HALF>
static __device__ __forceinline__ void lane_softmax(float S[KEYS / 4], float *m, float *l,
                                                    float O[D / 4], float *P, int hw)
{
    float m_old = *m, sum = 0.0f;
#pragma unroll
    for (int n = 0; n < KEYS / 4; n++)
        *m = fmaxf(*m, S[n]);
    *m = quad_max(*m);                                                  /* ROW_MAX */
    float shift = shift_of(*m), decay = exponential(__fsub_rn(m_old, shift), hw);
    *l = __fmul_rn(*l, decay);                                          /* RESCALE */
#pragma unroll
    for (int d = 0; d < D / 4; d++)
        O[d] = __fmul_rn(O[d], decay);
#pragma unroll
    for (int n = 0; n < KEYS / 4; n++) {
        S[n] = exponential(__fsub_rn(S[n], shift), hw);                 /* EXP */
        sum = __fadd_rn(sum, S[n]);
    }
    *l = __fadd_rn(*l, quad_sum(sum));                                  /* ROW_SUM */
#pragma unroll
    for (int n = 0; n < KEYS / 4; n++)
        P[lane_key(n)] = unpack<HALF>((uint16_t)pack<HALF>(S[n], 0.0f)); /* ROUND_P */
}

template <int D, int HALF>
static __global__ void __launch_bounds__(THREADS, 1) fa2_tiles_kernel(struct attention_args a)
{
    DYN_SHARED(shared);
    uint16_t *Q = (uint16_t *)shared, *K = Q + ROWS * (D + PAD), *V = K + KEYS * (D + PAD);
    float *P = (float *)(V + KEYS * (D + PAD));
    int head = blockIdx.y, batch = blockIdx.z, kv_head = head / (a.heads_q / a.heads_kv);
    const uint16_t *q = a.q + head_at(batch, head, a.heads_q, a.rows, D);
    const uint16_t *k = a.k + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    const uint16_t *v = a.v + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    int row0 = blockIdx.x * ROWS, row = threadIdx.x / 4, lane = threadIdx.x & 3, r = row0 + row;
    int tiles = tiles_seen(&a, row0, ROWS, KEYS), seen = keys_seen(&a, r);
    float m = -INFINITY, l = 0.0f, O[D / 4], S[KEYS / 4];
#pragma unroll
    for (int d = 0; d < D / 4; d++)
        O[d] = 0.0f;
    copy_tile<D>(Q, q, row0, ROWS, a.rows);
    for (int j = 0; j < tiles; j++) {
        copy_tile<D>(K, k, j * KEYS, KEYS, a.keys);
        copy_tile<D>(V, v, j * KEYS, KEYS, a.keys);
        __syncthreads(); /* Q, K, V are whole */
        lane_scores<D, HALF>(S, Q + row * (D + PAD), K, a.scale, seen - j * KEYS);
        lane_softmax<D, HALF>(S, &m, &l, O, P + row * KEYS, a.hw);
        __syncwarp(); /* the row's other weights */
        for (int c = 0; c < KEYS && c < seen - j * KEYS; c++) /* a NaN that is not seen adds none */
#pragma unroll
            for (int d = 0; d < D / 4; d++)                             /* PV */
                O[d] = __fmaf_rn(P[row * KEYS + c],
                                 unpack<HALF>(V[c * (D + PAD) + 4 * d + lane]), O[d]);
        __syncthreads(); /* all have left K, V and P */
    }
    if (r >= a.rows)
        return;
    uint16_t *o = a.o + head_at(batch, head, a.heads_q, a.rows, D) + (int64_t)r * D;
#pragma unroll
    for (int d = 0; d < D / 4; d++)
        O[d] = seen > 0 ? __fdiv_rn(O[d], l) : 0.0f;                    /* NORMALIZE */
    if (lane == 0)
        a.lse[head_at(batch, head, a.heads_q, a.rows, 1) + r] = __fadd_rn(m, poly_log(l)); /* LSE */
#pragma unroll
    for (int d = 0; d < D / 4; d++)
        o[4 * d + lane] = (uint16_t)pack<HALF>(O[d], 0.0f);             /* STORE */
}

template <int D, int HALF> static void launch(struct attention_args a)
{
    void (*fa2_tiles)(struct attention_args) = fa2_tiles_kernel<D, HALF>;
    dim3 grid((a.rows + ROWS - 1) / ROWS, a.heads_q, a.batch);
    LAUNCH(fa2_tiles, grid, THREADS, FA2_TILES_SHARED(D), a);
}

extern "C" void gpu_fa2_tiles(struct attention_args a)
{
#define ONE(d) ONE_HEAD_SIZE(d, (launch<D, HALF>(a)))
    HEAD_SIZES(ONE)
}
