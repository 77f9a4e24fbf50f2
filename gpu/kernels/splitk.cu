/* splitk.cu: FlashAttention-2's tile shared out by keys.  arXiv 2307.08691, section 3.3: what FA2
   gave up, and FA1 did.

   What it does: a block owns 16 query rows; each of four warps has a quarter of every tile's keys
   and all the rows.
   What changed from fa2.cu: no warp has a whole row, so maxima, sums and partial outputs meet in
   shared memory; the partial outputs, each from zero, are added in the order of the warps, which
   is another rounding.
   What it costs: 4 barriers a tile instead of 2, and 4 x 16 x D floats written and read for each;
   D = 256 exchanges 64 columns at a time, in 10 barriers, so that it fits 99 KiB. */
#include "tiles.h"

#define ROWS 16
#define KEYS 64
#define PART (KEYS / WARPS) /* of a warp */

/* What the warps tell each other; of the products a few columns at a time. */
template <int D> struct exchange {
    float m[ROWS][WARPS], l[ROWS][WARPS], Y[WARPS][ROWS][SPLITK_COLUMNS(D)];
};

/* Rows g and g + 8; of O the warp's own quarter of the columns exchanged at a time. */
template <int D> struct rows_state {
    enum { TURNS = D / SPLITK_COLUMNS(D), EACH = SPLITK_COLUMNS(D) / WARPS };
    float m[2], l[2], O[TURNS * EACH / 8][4];
};

/* The warp's scores, and their maxima for all. */
template <int D>
static __device__ __forceinline__ void tell_maxima(struct exchange<D> *e, float (*S)[4],
                                                   const int seen[2], int key0, float scale)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float m = -INFINITY;
#pragma unroll
        for (int n = 0; n < PART / 8; n++)
#pragma unroll
            for (int x = 0; x < 2; x++) {
                float *s = &S[n][2 * h + x];
                *s = __fmul_rn(*s, scale);                              /* SCALE */
                *s = key0 + 8 * n + 2 * (lane & 3) + x < seen[h] ? *s : -INFINITY; /* MASK */
                m = fmaxf(m, *s);
            }
        m = quad_max(m);
        if ((lane & 3) == 0)
            e->m[lane / 4 + 8 * h][warp] = m;
    }
}

/* The maximum of all warps; m, l and O relative to it. */
template <int D>
static __device__ __forceinline__ void rescale(const struct exchange<D> *e, struct rows_state<D> *s,
                                               int hw)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const float *all = e->m[(threadIdx.x & 31) / 4 + 8 * h];
        float m_old = s->m[h];
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            s->m[h] = fmaxf(s->m[h], all[w]);                           /* ROW_MAX */
        float decay = exponential(__fsub_rn(m_old, shift_of(s->m[h])), hw);
        s->l[h] = __fmul_rn(s->l[h], decay);                            /* RESCALE */
#pragma unroll
        for (int n = 0; n < D / 8 / WARPS; n++)
#pragma unroll
            for (int x = 2 * h; x < 2 * h + 2; x++)
                s->O[n][x] = __fmul_rn(s->O[n][x], decay);
    }
}

/* The warp's weights and their sum, for all. */
template <int D, int HALF>
static __device__ __forceinline__ void tell_sums(struct exchange<D> *e,
                                                 const struct rows_state<D> *s, float (*S)[4],
                                                 uint32_t (*P)[2], int hw)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float shift = shift_of(s->m[h]), sum = 0.0f;
#pragma unroll
        for (int n = 0; n < PART / 8; n++)
#pragma unroll
            for (int x = 2 * h; x < 2 * h + 2; x++) {
                S[n][x] = exponential(__fsub_rn(S[n][x], shift), hw);   /* EXP */
                sum = __fadd_rn(sum, S[n][x]);
            }
        sum = quad_sum(sum);
        if ((lane & 3) == 0)
            e->l[lane / 4 + 8 * h][warp] = sum;
#pragma unroll
        for (int n = 0; n < PART / 8; n++)
            P[n][h] = pack<HALF>(S[n][2 * h], S[n][2 * h + 1]);         /* ROUND_P */
    }
}

/* The warp's P V from zero, in columns col0 .., for all; sixteen at a time. */
template <int D, int HALF>
static __device__ __forceinline__ void tell_products(struct exchange<D> *e, const uint32_t (*P)[2],
                                                     uint16_t *V, int col0, bool hidden, int edge)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32, g = lane / 4, t = lane & 3;
    for (int c = 0; c < SPLITK_COLUMNS(D); c += 16) {
        float Y[2][4] = {{0.0f, 0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f, 0.0f}};
        product_seen<D, HALF, PART, 2>(Y, P, V, warp * PART, col0 + c, hidden, edge); /* PV */
#pragma unroll
        for (int n = 0; n < 2; n++)
#pragma unroll
            for (int x = 0; x < 4; x++)
                e->Y[warp][g + 8 * (x / 2)][c + 8 * n + 2 * t + x % 2] = Y[n][x];
    }
}

/* All sums, in the first turn, and of the warp's columns all partial outputs. */
template <int D>
static __device__ __forceinline__ void put_together(const struct exchange<D> *e,
                                                    struct rows_state<D> *s, int turn)
{
    enum { EACH = rows_state<D>::EACH };
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32, g = lane / 4, t = lane & 3;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const float *all = e->l[g + 8 * h];
        /* as a quad would: (l0 + l1) + (l2 + l3) */
        float sum = __fadd_rn(__fadd_rn(all[0], all[1]), __fadd_rn(all[2], all[3]));
        if (turn == 0)
            s->l[h] = __fadd_rn(s->l[h], sum);                          /* ROW_SUM */
#pragma unroll
        for (int n = 0; n < EACH / 8; n++)
#pragma unroll
            for (int x = 0; x < 2; x++)
#pragma unroll
                for (int w = 0; w < WARPS; w++) {                       /* PV */
                    float *O = &s->O[turn * EACH / 8 + n][2 * h + x];
                    *O = __fadd_rn(*O, e->Y[w][g + 8 * h][warp * EACH + 8 * n + 2 * t + x]);
                }
    }
}

template <int D, int HALF>
static __device__ __forceinline__ void finish_rows(struct rows_state<D> *s, struct attention_args a,
                                                   uint16_t *o, float *lse, int row0)
{
    enum { TURNS = rows_state<D>::TURNS, EACH = rows_state<D>::EACH };
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int r = row0 + lane / 4 + 8 * h, seen = keys_seen(&a, r) > 0;
        if (r >= a.rows)
            continue;
#pragma unroll
        for (int n = 0; n < D / 8 / WARPS; n++)
#pragma unroll
            for (int x = 2 * h; x < 2 * h + 2; x++)                     /* NORMALIZE */
                s->O[n][x] = seen ? __fdiv_rn(s->O[n][x], s->l[h]) : 0.0f;
        if ((lane & 3) == 0 && warp == 0)
            lse[r] = __fadd_rn(s->m[h], poly_log(s->l[h]));             /* LSE */
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++)                        /* STORE */
            store_rows<D, EACH, HALF>(o, s->O + turn * EACH / 8, h, r,
                                      turn * SPLITK_COLUMNS(D) + warp * EACH);
    }
}

template <int D, int HALF>
static __global__ void __launch_bounds__(THREADS, 1) splitk_kernel(struct attention_args a)
{
    DYN_SHARED(shared);
    struct exchange<D> *e = (struct exchange<D> *)shared;
    uint16_t *Q = (uint16_t *)(e + 1), *K = Q + ROWS * D, *V = K + KEYS * D;
    int head = blockIdx.y, batch = blockIdx.z, kv_head = head / (a.heads_q / a.heads_kv);
    const uint16_t *q = a.q + head_at(batch, head, a.heads_q, a.rows, D);
    const uint16_t *k = a.k + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    const uint16_t *v = a.v + head_at(batch, kv_head, a.heads_kv, a.keys, D);
    int row0 = blockIdx.x * ROWS, g = (threadIdx.x & 31) / 4, warp = threadIdx.x / 32;
    int tiles = tiles_seen(&a, row0, ROWS, KEYS);
    const int seen[2] = {keys_seen(&a, row0 + g), keys_seen(&a, row0 + g + 8)};
    struct rows_state<D> s;
    s.m[0] = s.m[1] = -INFINITY;
    s.l[0] = s.l[1] = 0.0f;
#pragma unroll
    for (int n = 0; n < D / 8 / WARPS; n++)
        s.O[n][0] = s.O[n][1] = s.O[n][2] = s.O[n][3] = 0.0f;
    load_tile<D, ROWS>(Q, q, row0, a.rows);
    for (int j = 0; j < tiles; j++) {
        float S[PART / 8][4];
        uint32_t P[PART / 8][2];
        load_tile<D, KEYS>(K, k, j * KEYS, a.keys);
        load_tile<D, KEYS>(V, v, j * KEYS, a.keys);
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads(); /* Q, K, V are whole; the last tile's exchange is over */
        product_abt<D, HALF, PART / 8>(S, Q, 0, K, warp * PART);        /* QK */
        tell_maxima<D>(e, S, seen, j * KEYS + warp * PART, a.scale);
        __syncthreads(); /* all maxima */
        rescale<D>(e, &s, a.hw);
        tell_sums<D, HALF>(e, &s, S, P, a.hw);
        bool hidden = hides<D, HALF, PART>(&a, row0, j * KEYS + warp * PART, V + warp * PART * D);
#pragma unroll
        for (int turn = 0; turn < rows_state<D>::TURNS; turn++) {
            tell_products<D, HALF>(e, P, V, turn * SPLITK_COLUMNS(D), hidden,
                                   causal_edge(&a, row0, j * KEYS));
            __syncthreads(); /* all sums, all products of these columns */
            put_together<D>(e, &s, turn);
            __syncthreads(); /* all have read them; at last all have left K and V */
        }
    }
    cp_async_commit(); /* Q, where there was no tile */
    cp_async_wait<0>();
    finish_rows<D, HALF>(&s, a, a.o + head_at(batch, head, a.heads_q, a.rows, D),
                         a.lse + head_at(batch, head, a.heads_q, a.rows, 1), row0);
}

template <int D, int HALF> static void launch(struct attention_args a)
{
    void (*splitk)(struct attention_args) = splitk_kernel<D, HALF>;
    dim3 grid((a.rows + ROWS - 1) / ROWS, a.heads_q, a.batch);
    LAUNCH(splitk, grid, THREADS, SPLITK_SHARED(D), a);
}

extern "C" void gpu_splitk(struct attention_args a)
{
#define ONE(d) ONE_HEAD_SIZE(d, (launch<D, HALF>(a)))
    HEAD_SIZES(ONE)
}
