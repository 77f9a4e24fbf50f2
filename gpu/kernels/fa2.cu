/* fa2.cu: FlashAttention-2, forward, on tensor cores.  arXiv 2307.08691, Algorithm 1; third rung.

   What it does: a block of four warps owns 64 query rows, each warp 16 of them and all keys of a
   tile (split-Q), so that a row never leaves its four lanes.
   What changed from fa2_tiles.cu: both products are mma.sync, fed by ldmatrix from swizzled tiles;
   the next K and V tiles travel by cp.async into the other of two buffers while this one is used;
   P never leaves the registers, because the accumulators of Q K^T are laid out as the A operand of
   P V.
   What it costs: 2 barriers a tile; (64 + 4 x 64) x D x 2 bytes of shared memory (D = 256: tiles
   of 32 keys, 96 KiB); a sum over four lanes in every tile. */
#include "tiles.h"

#define ROWS (16 * WARPS)

/* m, l, O of the two rows (g and g + 8) whose quarter a lane holds. */
template <int D> struct rows_state {
    float m[2], l[2], O[D / 8][4];
};

/* S becomes P; m, l and O are put relative to the new maximum. */
template <int D, int HALF>
static __device__ __forceinline__ void
softmax_tile(struct rows_state<D> *s, float S[KEY_TILE(D) / 8][4], uint32_t P[KEY_TILE(D) / 8][2],
             const int seen[2], int key0, float scale, int hw)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float m = s->m[h], sum = 0.0f;
#pragma unroll
        for (int n = 0; n < KEY_TILE(D) / 8; n++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float *x = &S[n][2 * h + e];
                int key = key0 + 8 * n + 2 * (threadIdx.x & 3) + e;
                *x = __fmul_rn(*x, scale);                              /* SCALE */
                *x = key < seen[h] ? *x : -INFINITY;                    /* MASK */
                m = fmaxf(m, *x);
            }
        m = quad_max(m);                                                /* ROW_MAX */
        float shift = shift_of(m), decay = exponential(__fsub_rn(s->m[h], shift), hw);
        s->m[h] = m;
        s->l[h] = __fmul_rn(s->l[h], decay);                            /* RESCALE */
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
            s->O[n][2 * h] = __fmul_rn(s->O[n][2 * h], decay);
            s->O[n][2 * h + 1] = __fmul_rn(s->O[n][2 * h + 1], decay);
        }
#pragma unroll
        for (int n = 0; n < KEY_TILE(D) / 8; n++)
#pragma unroll
            for (int e = 2 * h; e < 2 * h + 2; e++) {
                S[n][e] = exponential(__fsub_rn(S[n][e], shift), hw);   /* EXP */
                sum = __fadd_rn(sum, S[n][e]);
            }
        s->l[h] = __fadd_rn(s->l[h], quad_sum(sum));                    /* ROW_SUM */
#pragma unroll
        for (int n = 0; n < KEY_TILE(D) / 8; n++)
            P[n][h] = pack<HALF>(S[n][2 * h], S[n][2 * h + 1]);         /* ROUND_P */
    }
}

template <int D, int HALF>
static __device__ __forceinline__ void finish_rows(struct rows_state<D> *s, struct attention_args a,
                                                   uint16_t *o, float *lse, int row0)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int r = row0 + (threadIdx.x & 31) / 4 + 8 * h;
        if (r >= a.rows)
            continue;
#pragma unroll
        for (int n = 0; n < D / 8; n++)
#pragma unroll
            for (int e = 2 * h; e < 2 * h + 2; e++)                     /* NORMALIZE */
                s->O[n][e] = keys_seen(&a, r) > 0 ? __fdiv_rn(s->O[n][e], s->l[h]) : 0.0f;
        if ((threadIdx.x & 3) == 0)
            lse[r] = __fadd_rn(s->m[h], poly_log(s->l[h]));             /* LSE */
        store_rows<D, D, HALF>(o, s->O, h, r, 0);                       /* STORE */
    }
}

template <int D, int HALF>
static __global__ void __launch_bounds__(THREADS, 1) fa2_kernel(struct attention_args a)
{
    DYN_SHARED(shared);
    constexpr int KEYS = KEY_TILE(D);
    uint16_t *Q = (uint16_t *)shared, *K = Q + ROWS * D, *V = K + 2 * KEYS * D;
    int head = blockIdx.y, batch = blockIdx.z, kv_head = head / (a.heads_q / a.heads_kv);
    const uint16_t *q = a.q + head_at(batch, head, a.heads_q, a.rows, D);
    const uint16_t *k = a.k + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    const uint16_t *v = a.v + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    int block_row = blockIdx.x * ROWS, warp_row = 16 * (threadIdx.x / 32);
    int g = (threadIdx.x & 31) / 4, tiles = tiles_seen(&a, block_row, ROWS, KEYS);
    const int seen[2] = {keys_seen(&a, block_row + warp_row + g),
                         keys_seen(&a, block_row + warp_row + g + 8)};
    struct rows_state<D> s;
    s.m[0] = s.m[1] = -INFINITY;
    s.l[0] = s.l[1] = 0.0f;
#pragma unroll
    for (int n = 0; n < D / 8; n++)
        s.O[n][0] = s.O[n][1] = s.O[n][2] = s.O[n][3] = 0.0f;

    /* Invariant at the top: K of tile j has arrived for all; V of tile j is on its way. */
    load_tile<D, ROWS>(Q, q, block_row, a.rows);
    load_tile<D, KEYS>(K, k, 0, a.keys);
    cp_async_commit();
    load_tile<D, KEYS>(V, v, 0, a.keys);
    cp_async_commit();
    cp_async_wait<1>(); /* Q and the first K */
    __syncthreads();    /* of all threads */
    for (int j = 0; j < tiles; j++) {
        int now = j & 1, next = now ^ 1;
        float S[KEYS / 8][4];
        uint32_t P[KEYS / 8][2];
        if (j + 1 < tiles)
            load_tile<D, KEYS>(K + next * KEYS * D, k, (j + 1) * KEYS, a.keys);
        cp_async_commit(); /* an empty group keeps the count */
        product_abt<D, HALF, KEYS / 8>(S, Q, warp_row, K + now * KEYS * D, 0); /* QK */
        softmax_tile<D, HALF>(&s, S, P, seen, j * KEYS, a.scale, a.hw);
        cp_async_wait<1>(); /* V of this tile */
        __syncthreads();    /* of all threads; and all have left the other V */
        if (j + 1 < tiles)
            load_tile<D, KEYS>(V + next * KEYS * D, v, (j + 1) * KEYS, a.keys);
        cp_async_commit();
        bool hidden = hides<D, HALF, KEYS>(&a, block_row + warp_row, j * KEYS, V + now * KEYS * D);
        product_seen<D, HALF, KEYS, D / 8>(s.O, P, V + now * KEYS * D, 0, 0, hidden, /* PV */
                                           causal_edge(&a, block_row + warp_row, j * KEYS));
        cp_async_wait<1>(); /* K of the next tile */
        __syncthreads();    /* of all threads; and all have left this K */
    }
    cp_async_wait<0>();
    finish_rows<D, HALF>(&s, a, a.o + head_at(batch, head, a.heads_q, a.rows, D),
                         a.lse + head_at(batch, head, a.heads_q, a.rows, 1), block_row + warp_row);
}

template <int D, int HALF> static void launch(struct attention_args a)
{
    void (*fa2)(struct attention_args) = fa2_kernel<D, HALF>;
    dim3 grid((a.rows + ROWS - 1) / ROWS, a.heads_q, a.batch);
    LAUNCH(fa2, grid, THREADS, FA2_SHARED(D), a);
}

extern "C" void gpu_fa2(struct attention_args a)
{
#define ONE(d) ONE_HEAD_SIZE(d, (launch<D, HALF>(a)))
    HEAD_SIZES(ONE)
}
