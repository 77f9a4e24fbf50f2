/* fa1.cu: FlashAttention-1, forward, on tensor cores.  arXiv 2205.14135, Algorithm 1.

   What it does: a block owns one head; the outer loop walks the key tiles, the inner one the query
   tiles, 64 rows at a time, so m, l and O of every row leave for global memory and come back for
   every key tile; O is normalised in every one.
   What changed against fa2.cu: the loops are the other way round, and the merge divides each time.
   What it costs: (key tiles) x rows x (D + 2) floats read and written, a division for each of
   them, and no more blocks than heads. */
#include "tiles.h"

#define ROWS (16 * WARPS)

/* m, l, O of every row between key tiles: (batch, heads, rows) twice, (batch, heads, rows, D). */
struct between {
    float *m, *l, *O;
};

/* The tile's own softmax: m_tile, l_tile and P, before anything is merged. */
template <int D, int HALF>
static __device__ __forceinline__ void own_softmax(float m_tile[2], float l_tile[2],
                                                   float S[KEY_TILE(D) / 8][4],
                                                   uint32_t P[KEY_TILE(D) / 8][2],
                                                   const int seen[2], int key0, float scale, int hw)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float m = -INFINITY, sum = 0.0f;
#pragma unroll
        for (int n = 0; n < KEY_TILE(D) / 8; n++)
#pragma unroll
            for (int x = 0; x < 2; x++) {
                float *s = &S[n][2 * h + x];
                int key = key0 + 8 * n + 2 * (threadIdx.x & 3) + x;
                *s = __fmul_rn(*s, scale);                              /* SCALE */
                *s = key < seen[h] ? *s : -INFINITY;                    /* MASK */
                m = fmaxf(m, *s);
            }
        m_tile[h] = quad_max(m);                                        /* ROW_MAX */
#pragma unroll
        for (int n = 0; n < KEY_TILE(D) / 8; n++)
#pragma unroll
            for (int x = 2 * h; x < 2 * h + 2; x++) {
                S[n][x] = exponential(__fsub_rn(S[n][x], shift_of(m_tile[h])), hw); /* EXP */
                sum = __fadd_rn(sum, S[n][x]);
            }
        l_tile[h] = quad_sum(sum);                                      /* ROW_SUM */
#pragma unroll
        for (int n = 0; n < KEY_TILE(D) / 8; n++)
            P[n][h] = pack<HALF>(S[n][2 * h], S[n][2 * h + 1]);         /* ROUND_P */
    }
}

/* O = (l e^(m - m_new) O + e^(m_tile - m_new) Y) / l_new for row r, half h of the fragments;
   nothing for a row outside. */
template <int D>
static __device__ __forceinline__ void merge_row(struct between b, int64_t r, bool inside,
                                                 const float (*Y)[4], int h, float m_tile,
                                                 float l_tile, int hw)
{
    float m_old = inside ? b.m[r] : 0.0f, l_before = inside ? b.l[r] : 0.0f;
    __syncwarp(); /* every lane of the row has read them */
    if (!inside)
        return;
    float m = fmaxf(m_old, m_tile), shift = shift_of(m); /* ROW_MAX */
    float decay = exponential(__fsub_rn(m_old, shift), hw);             /* RESCALE */
    float growth = exponential(__fsub_rn(m_tile, shift), hw);
    float l_old = __fmul_rn(l_before, decay), l = __fadd_rn(l_old, __fmul_rn(l_tile, growth));
    float *O = b.O + r * D + 2 * (threadIdx.x & 3);
#pragma unroll
    for (int n = 0; n < D / 8; n++)
#pragma unroll
        for (int x = 0; x < 2; x++) {
            float y = __fmul_rn(O[8 * n + x], l_old);                   /* MERGE */
            y = __fadd_rn(y, __fmul_rn(Y[n][2 * h + x], growth));
            O[8 * n + x] = l > 0.0f || l < 0.0f ? __fdiv_rn(y, l) : y;  /* NORMALIZE */
        }
    if ((threadIdx.x & 3) == 0) {
        b.m[r] = m;
        b.l[r] = l;
    }
}

/* Row r as it is stored; 0 where it sees nothing, NaN where all its weights are 0. */
template <int D, int HALF>
static __device__ void finish_row(struct attention_args a, struct between b, int64_t head_row,
                                  int r)
{
    int64_t at = head_row + r;
    float l = b.l[at];
    bool summed = l > 0.0f || l < 0.0f;
    for (int d = 0; d < D; d++) {
        float y = summed ? b.O[at * D + d] : keys_seen(&a, r) > 0 ? __fdiv_rn(l, l) : 0.0f;
        if (d == 0)
            a.lse[at] = __fadd_rn(b.m[at], poly_log(l));                /* LSE */
        a.o[at * D + d] = (uint16_t)pack<HALF>(y, 0.0f);                /* STORE */
    }
}

template <int D, int HALF>
static __global__ void __launch_bounds__(THREADS, 1)
    fa1_kernel(struct attention_args a, struct between b)
{
    DYN_SHARED(shared);
    constexpr int KEYS = KEY_TILE(D);
    uint16_t *Q = (uint16_t *)shared, *K = Q + ROWS * D, *V = K + KEYS * D;
    int head = blockIdx.x, batch = blockIdx.y, kv_head = head / (a.heads_q / a.heads_kv);
    const uint16_t *q = a.q + head_at(batch, head, a.heads_q, a.rows, D);
    const uint16_t *k = a.k + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    const uint16_t *v = a.v + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    int64_t head_row = head_at(batch, head, a.heads_q, a.rows, 1);
    int lane = threadIdx.x & 31, warp_row = 16 * (threadIdx.x / 32);
    for (int r = threadIdx.x; r < a.rows; r += THREADS) {
        b.m[head_row + r] = -INFINITY;
        b.l[head_row + r] = 0.0f;
    }
    for (int64_t n = threadIdx.x; n < (int64_t)a.rows * D; n += THREADS)
        b.O[head_row * D + n] = 0.0f;
    for (int key0 = 0; key0 < a.keys; key0 += KEYS) {
        __syncthreads(); /* all have left K and V; at first: m, l and O are begun */
        load_tile<D, KEYS>(K, k, key0, a.keys);
        load_tile<D, KEYS>(V, v, key0, a.keys);
        for (int row0 = 0; row0 < a.rows; row0 += ROWS) {
            if (tiles_seen(&a, row0, ROWS, KEYS) * KEYS <= key0)
                continue; /* no row of the tile sees these keys: so for all threads */
            load_tile<D, ROWS>(Q, q, row0, a.rows);
            cp_async_commit();
            cp_async_wait<0>();
            __syncthreads(); /* Q, and at first K and V, are whole */
            int r0 = row0 + warp_row + lane / 4;
            const int seen[2] = {keys_seen(&a, r0), keys_seen(&a, r0 + 8)};
            float S[KEYS / 8][4], Y[D / 8][4], m_tile[2], l_tile[2];
            uint32_t P[KEYS / 8][2];
            product_abt<D, HALF, KEYS / 8>(S, Q, warp_row, K, 0);       /* QK */
            own_softmax<D, HALF>(m_tile, l_tile, S, P, seen, key0, a.scale, a.hw);
#pragma unroll
            for (int n = 0; n < D / 8; n++)
                Y[n][0] = Y[n][1] = Y[n][2] = Y[n][3] = 0.0f;
            bool hidden = hides<D, HALF, KEYS>(&a, row0 + warp_row, key0, V);
            product_seen<D, HALF, KEYS, D / 8>(Y, P, V, 0, 0, hidden, /* PV */
                                               causal_edge(&a, row0 + warp_row, key0));
#pragma unroll
            for (int h = 0; h < 2; h++)
                merge_row<D>(b, head_row + r0 + 8 * h, r0 + 8 * h < a.rows, Y, h, m_tile[h],
                             l_tile[h], a.hw);
            __syncthreads(); /* all have left Q */
        }
    }
    cp_async_wait<0>();
    __syncthreads(); /* a row is finished by another thread */
    for (int r = threadIdx.x; r < a.rows; r += THREADS)
        finish_row<D, HALF>(a, b, head_row, r);
}

template <int D, int HALF> static void launch(struct attention_args a, struct between b)
{
    void (*fa1)(struct attention_args, struct between) = fa1_kernel<D, HALF>;
    LAUNCH(fa1, dim3(a.heads_q, a.batch), THREADS, FA1_SHARED(D), a, b);
}

extern "C" void gpu_fa1(struct attention_args a)
{
    size_t rows = (size_t)a.batch * a.heads_q * a.rows;
    struct between b = {(float *)dev_alloc(rows * 4), (float *)dev_alloc(rows * 4),
                        (float *)dev_alloc(rows * a.D * 4)};
#define ONE(d) ONE_HEAD_SIZE(d, (launch<D, HALF>(a, b)))
    HEAD_SIZES(ONE)
    dev_free(b.m);
    dev_free(b.l);
    dev_free(b.O);
}
