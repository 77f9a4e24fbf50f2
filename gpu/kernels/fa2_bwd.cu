/* fa2_bwd.cu: FlashAttention-2, backward, on tensor cores.  arXiv 2307.08691, Algorithm 2.

   What it does: a first kernel takes D = rowsum(dO o O).  In the main one a block owns a key tile
   and walks the query tiles, 64 rows at a time: P comes again from the scores and L alone; dK and
   dV grow in registers; dQ of every query tile meets in memory, fp32, where all key tiles add to
   it.  A third kernel scales and rounds dQ, and sums dK and dV over the query heads of a group.
   dQ by atomic adds: its bits depend on the order in which key tiles arrive.  Or deterministic: C
   copies of dQ and C blocks a head, block c taking key tiles c, c + C, ... in order into copy c.
   What changed from fa2.cu: five products in place of two; P and dS are needed transposed too, so
   they go through shared memory once.
   What it costs: 2.5 times the products; 4 barriers a query tile; dQ in fp32, read and written
   once for each key tile; at D = 256 P and dS pass through 2 KiB, half the warps at a time, in 9
   barriers, so that all fits 99 KiB. */
#include "tiles.h"

#define ROWS (16 * WARPS)

/* What the kernels hand on: (batch, heads_q, ...) fp32. */
struct workspace {
    float *delta;    /* rows */
    float *dq;       /* copies x rows x D, copies outermost of all */
    float *dk, *dv;  /* keys x D */
};

/* D = rowsum(dO o O), a thread a row. */
template <int HALF>
static __global__ void __launch_bounds__(THREADS) delta_kernel(struct backward_args b,
                                                               struct workspace w, int64_t rows)
{
    int64_t row = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    float sum = 0.0f;
    if (row >= rows)
        return;
    for (int d = 0; d < b.a.D; d++)                                     /* DELTA */
        sum = __fmaf_rn(unpack<HALF>(b.d_o[row * b.a.D + d]), unpack<HALF>(b.a.o[row * b.a.D + d]),
                        sum);
    w.delta[row] = sum;
}

/* P of the warp's 16 rows, 0 where unseen, in place of S. */
template <int KEYS>
static __device__ __forceinline__ void weights(float S[KEYS / 8][4], const float L[2],
                                               const int seen[2], int key0,
                                               const struct attention_args *a)
{
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
        for (int x = 0; x < 4; x++) {
            int key = key0 + 8 * n + 2 * (threadIdx.x & 3) + x % 2;
            float s = __fmul_rn(S[n][x], a->scale);                     /* SCALE */
            float p = exponential(__fsub_rn(s, L[x / 2]), a->hw);
            S[n][x] = key < seen[x / 2] ? p : 0.0f;                     /* MASK REWEIGH */
        }
}

/* The weights as the products take them. */
template <int HALF, int KEYS>
static __device__ __forceinline__ void round_weights(uint32_t P[KEYS / 8][2],
                                                     const float S[KEYS / 8][4])
{
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            P[n][h] = pack<HALF>(S[n][2 * h], S[n][2 * h + 1]);         /* ROUND_P */
}

/* dS = P (dP - D), rounded; 0 where unseen, whatever dP is there. */
template <int HALF, int KEYS>
static __device__ __forceinline__ void score_gradients(uint32_t dS[KEYS / 8][2],
                                                       const float P[KEYS / 8][4],
                                                       const float dP[KEYS / 8][4],
                                                       const float delta[2], const int seen[2],
                                                       int key0)
{
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int key = key0 + 8 * n + 2 * (threadIdx.x & 3);
            float lo = __fmul_rn(P[n][2 * h], __fsub_rn(dP[n][2 * h], delta[h])); /* DS */
            float hi = __fmul_rn(P[n][2 * h + 1], __fsub_rn(dP[n][2 * h + 1], delta[h]));
            dS[n][h] = pack<HALF>(key < seen[h] ? lo : 0.0f, key + 1 < seen[h] ? hi : 0.0f);
        }
}

/* The warp's 16 x KEYS accumulators, packed, into rows row0 .. of a tile of KEYS columns. */
template <int KEYS>
static __device__ __forceinline__ void put_fragments(uint16_t *tile, int row0,
                                                     const uint32_t F[KEYS / 8][2])
{
    int g = (threadIdx.x & 31) / 4, t = threadIdx.x & 3;
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            *(uint32_t *)(chunk_of<KEYS>(tile, row0 + g + 8 * h, n) + 2 * t) = F[n][h];
}

/* A[n] += tile^T X for the tile's 16 columns from key0 and X's columns col0 + 8n; DEEP rows, of X
   from row0.  Where something is hidden, column r of these takes X's rows from edge + r on. */
template <int D, int HALF, int KEYS, int N, int DEEP>
static __device__ __forceinline__ void product_atb(float A[N][4], uint16_t *tile, int key0,
                                                   uint16_t *X, int row0, int col0, bool hidden,
                                                   int edge)
{
#pragma unroll 1
    for (int k = 0; k < DEEP / 16; k++) {
        uint32_t a[4], b[4];
        fragment_at<KEYS>(a, tile, 16 * k, key0 / 8);
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            fragment_b<D>(b, X, row0 + 16 * k, col0 / 8 + n);
            if (hidden) {
                mma_by_row<HALF, true>(A[n], a, b, row0 + 16 * k, edge);
                mma_by_row<HALF, true>(A[n + 1], a, b + 2, row0 + 16 * k, edge);
            } else {
                mma<HALF>(A[n], a, b);
                mma<HALF>(A[n + 1], a, b + 2);
            }
        }
    }
}

/* A[n] += F^T X, F being the warps' fragments, 16 x KEYS each: they meet in `tile`, in turns. */
template <int D, int HALF, int KEYS, int N>
static __device__ __forceinline__ void meet_atb(float A[N][4], uint16_t *tile,
                                                const uint32_t F[KEYS / 8][2], int key0,
                                                uint16_t *X, int col0, bool hidden, int edge)
{
    enum { AT_ONCE = FA2_BWD_ROWS(D) };
    int own = 16 * (threadIdx.x / 32);
#pragma unroll 1
    for (int row0 = 0; row0 < ROWS; row0 += AT_ONCE) {
        if (row0 > 0)
            __syncthreads(); /* all have left the rows before these */
        if (own / AT_ONCE == row0 / AT_ONCE)
            put_fragments<KEYS>(tile, own - row0, F);
        __syncthreads(); /* these rows are whole */
        product_atb<D, HALF, KEYS, N, AT_ONCE>(A, tile, key0, X, row0, col0, hidden, edge);
    }
}

/* Does the query tile hold something not finite that not every key of the key tile is seen by?  Its
   first row sees least.  One warp, all its lanes. */
template <int D, int HALF, int KEYS>
static __device__ __forceinline__ bool hides_queries(const struct attention_args *a, int row0,
                                                     int key0, const uint16_t *Q,
                                                     const uint16_t *dO)
{
    int end = key0 + KEYS < a->keys ? key0 + KEYS : a->keys;
    return a->causal && keys_seen(a, row0) < end &&
           (not_finite<HALF>(Q, ROWS * D) || not_finite<HALF>(dO, ROWS * D));
}

/* dQ of the warp's rows gets dS K, 32 columns at a time. */
template <int D, int HALF, int KEYS>
static __device__ __forceinline__ void add_to_dq(float *dq, const uint32_t dS[KEYS / 8][2],
                                                 uint16_t *K, int row0, int rows, int atomic,
                                                 bool hidden, int edge)
{
    int g = (threadIdx.x & 31) / 4, t = threadIdx.x & 3;
#pragma unroll 1
    for (int c = 0; c < D; c += 32) {
        float part[4][4] = {};
        product_seen<D, HALF, KEYS, 4>(part, dS, K, 0, c, hidden, edge);      /* DQ */
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int x = 0; x < 4; x++) {
                int r = row0 + g + 8 * (x / 2);
                float *to = dq + (int64_t)r * D + c + 8 * n + 2 * t + x % 2;
                if (r >= rows)
                    continue;
                if (atomic)
                    atomicAdd(to, part[n][x]);
                else
                    *to = __fadd_rn(*to, part[n][x]);
            }
    }
}

/* dK and dV of the warp's 16 keys and COLS columns leave, dK times the scale. */
template <int D, int COLS>
static __device__ __forceinline__ void store_key_gradients(float *dk, float *dv, float (*dK)[4],
                                                           float (*dV)[4], int key0, int keys,
                                                           int col0, float scale)
{
    int g = (threadIdx.x & 31) / 4, t = threadIdx.x & 3;
#pragma unroll
    for (int n = 0; n < COLS / 8; n++)
#pragma unroll
        for (int x = 0; x < 4; x++) {
            int key = key0 + g + 8 * (x / 2);
            int64_t at = (int64_t)key * D + col0 + 8 * n + 2 * t + x % 2;
            if (key >= keys)
                continue;
            dk[at] = __fmul_rn(dK[n][x], scale);                        /* GRADIENT */
            dv[at] = dV[n][x];
        }
}

template <int D, int HALF>
static __global__ void __launch_bounds__(THREADS, 1) bwd_kernel(struct backward_args b,
                                                                struct workspace w)
{
    DYN_SHARED(shared);
    constexpr int KEYS = KEY_TILE(D), SIDES = 64 / KEYS,
                  COLS = D / SIDES; /* a warp's 16 keys, COLS */
    struct attention_args a = b.a;
    uint16_t *Q = (uint16_t *)shared, *dO = Q + ROWS * D, *K = dO + ROWS * D, *V = K + KEYS * D;
    uint16_t *tile_P = V + KEYS * D;
    uint16_t *tile_dS = tile_P + (FA2_BWD_PLACES(D) - 1) * ROWS * KEYS;
    int head = blockIdx.y, batch = blockIdx.z, kv_head = head / (a.heads_q / a.heads_kv);
    int warp = threadIdx.x / 32, g = (threadIdx.x & 31) / 4;
    int own_key = 16 * (warp / SIDES), own_col = COLS * (warp % SIDES);
    int64_t row_at = head_at(batch, head, a.heads_q, a.rows, 1);
    int64_t key_at = head_at(batch, head, a.heads_q, a.keys, 1);
    const uint16_t *k = a.k + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    const uint16_t *v = a.v + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    int64_t copy = b.copies > 0 ? blockIdx.x : 0;
    float *dq = w.dq + (copy * a.batch * a.heads_q * a.rows + row_at) * D;
    for (int key0 = blockIdx.x * KEYS; key0 < a.keys; key0 += gridDim.x * KEYS) {
        float dK[COLS / 8][4] = {}, dV[COLS / 8][4] = {};
        load_tile<D, KEYS>(K, k, key0, a.keys);
        load_tile<D, KEYS>(V, v, key0, a.keys);
        for (int row0 = 0; row0 < a.rows; row0 += ROWS) {
            if (tiles_seen(&a, row0, ROWS, KEYS) * KEYS <= key0)
                continue; /* no row of the tile sees these keys: so for all threads */
            int r = row0 + 16 * warp + g;
            const int seen[2] = {keys_seen(&a, r), keys_seen(&a, r + 8)};
            float S[KEYS / 8][4], dP[KEYS / 8][4], L[2], delta[2];
            uint32_t P[KEYS / 8][2], dS[KEYS / 8][2];
            load_tile<D, ROWS>(Q, a.q + row_at * D, row0, a.rows);
            load_tile<D, ROWS>(dO, b.d_o + row_at * D, row0, a.rows);
            cp_async_commit();
#pragma unroll
            for (int h = 0; h < 2; h++) {
                L[h] = r + 8 * h < a.rows ? a.lse[row_at + r + 8 * h] : 0.0f;
                delta[h] = r + 8 * h < a.rows ? w.delta[row_at + r + 8 * h] : 0.0f;
            }
            cp_async_wait<0>();
            __syncthreads(); /* Q, dO, and at first K and V, are whole */
            product_abt<D, HALF, KEYS / 8>(S, Q, 16 * warp, K, 0);      /* QK */
            weights<KEYS>(S, L, seen, key0, &a);
            round_weights<HALF, KEYS>(P, S);
            /* the first row of the tile that sees the warp's first key */
            int edge = key0 + own_key - a.keys + a.rows - row0;
            bool hidden = hides_queries<D, HALF, KEYS>(&a, row0, key0, Q, dO);
            meet_atb<D, HALF, KEYS, COLS / 8>(dV, tile_P, P, own_key, dO, own_col, /* DV */
                                              hidden, edge);
            product_abt<D, HALF, KEYS / 8>(dP, dO, 16 * warp, V, 0);    /* DP */
            score_gradients<HALF, KEYS>(dS, S, dP, delta, seen, key0);
            if (FA2_BWD_PLACES(D) == 1)
                __syncthreads(); /* all have left P, whose place dS takes */
            meet_atb<D, HALF, KEYS, COLS / 8>(dK, tile_dS, dS, own_key, Q, own_col, /* DK */
                                              hidden, edge);
            hidden = hides<D, HALF, KEYS>(&a, row0 + 16 * warp, key0, K);
            add_to_dq<D, HALF, KEYS>(dq, dS, K, row0 + 16 * warp, a.rows, b.copies == 0, hidden,
                                     causal_edge(&a, row0 + 16 * warp, key0));
            __syncthreads(); /* all have left Q, dO, P and dS; at last K and V */
        }
        cp_async_wait<0>();
        store_key_gradients<D, COLS>(w.dk + key_at * D, w.dv + key_at * D, dK, dV, key0 + own_key,
                                     a.keys, own_col, a.scale);
    }
}

/* dQ = scale x the sum of its copies, ascending, rounded; a thread a number. */
template <int HALF>
static __global__ void __launch_bounds__(THREADS) dq_kernel(struct backward_args b,
                                                            struct workspace w, int64_t count)
{
    int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    float sum = 0.0f;
    if (n >= count)
        return;
    for (int copy = 0; copy < (b.copies > 0 ? b.copies : 1); copy++)
        sum = __fadd_rn(sum, w.dq[copy * count + n]);                   /* DQ_COPIES */
    b.dq[n] = (uint16_t)pack<HALF>(__fmul_rn(sum, b.a.scale), 0.0f);    /* GRADIENT */
}

/* One number of dK or dV summed over a key head's query heads, ascending, as stored. */
template <int HALF>
static __device__ uint16_t sum_heads(const float *first, int heads, int64_t head_size)
{
    float sum = first[0];
    for (int h = 1; h < heads; h++)                                     /* GROUP_SUM */
        sum = __fadd_rn(sum, first[h * head_size]);
    return (uint16_t)pack<HALF>(sum, 0.0f);                             /* GROUP_STORE */
}

template <int HALF>
static __global__ void __launch_bounds__(THREADS) group_kernel(struct backward_args b,
                                                               struct workspace w, int64_t count)
{
    int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x, head_size = (int64_t)b.a.keys * b.a.D;
    int heads = b.a.heads_q / b.a.heads_kv;
    if (n >= count)
        return;
    int64_t at = n / head_size * heads * head_size + n % head_size;
    b.dk[n] = sum_heads<HALF>(w.dk + at, heads, head_size);
    b.dv[n] = sum_heads<HALF>(w.dv + at, heads, head_size);
}

static unsigned blocks_of(int64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

template <int D, int HALF> static void launch(struct backward_args b, struct workspace w)
{
    constexpr int KEYS = KEY_TILE(D);
    void (*fa2_bwd)(struct backward_args, struct workspace) = bwd_kernel<D, HALF>;
    struct attention_args a = b.a;
    int64_t rows = (int64_t)a.batch * a.heads_q * a.rows;
    int64_t keys = (int64_t)a.batch * a.heads_kv * a.keys;
    int blocks = b.copies > 0 ? b.copies : (a.keys + KEYS - 1) / KEYS;
    LAUNCH(delta_kernel<HALF>, blocks_of(rows), THREADS, 0, b, w, rows);
    if (blocks > 0)
        LAUNCH(fa2_bwd, dim3(blocks, a.heads_q, a.batch), THREADS,
               FA2_BWD_SHARED(D), b, w);
    LAUNCH(dq_kernel<HALF>, blocks_of(rows * D), THREADS, 0, b, w, rows * D);
    if (keys > 0)
        LAUNCH(group_kernel<HALF>, blocks_of(keys * D), THREADS, 0, b, w, keys * D);
}

extern "C" void gpu_fa2_bwd(struct backward_args b)
{
    struct attention_args a = b.a;
    size_t heads = (size_t)a.batch * a.heads_q, copies = b.copies > 0 ? b.copies : 1;
    size_t dq_bytes = copies * heads * a.rows * a.D * 4, key_bytes = heads * a.keys * a.D * 4;
    struct workspace w = {(float *)dev_alloc(heads * a.rows * 4), (float *)dev_alloc(dq_bytes),
                          (float *)dev_alloc(key_bytes), (float *)dev_alloc(key_bytes)};
    dev_zero(w.dq, dq_bytes);
#define ONE(d) ONE_HEAD_SIZE(d, (launch<D, HALF>(b, w)))
    HEAD_SIZES(ONE)
    dev_free(w.delta);
    dev_free(w.dq);
    dev_free(w.dk);
    dev_free(w.dv);
}
