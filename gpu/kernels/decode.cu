/* decode.cu: one query a head, its keys cut into groups: the first half of split-KV decoding.

   What it does: a block, one warp, owns one group of keys of one KV head; its 16 rows are the query
   heads that share that head.  It leaves a record for each: an output, and a maximum and a sum or
   their logarithm, in the formats of decode.def; combine.cu makes one output of them.
   What changed from fa2.cu: the rows are heads; the blocks share out keys, because with one query
   there is nothing else to share out; nothing is finished here.
   What it costs: 16 rows of products however few the heads are; records of (D + 2) floats a group,
   written and read once; one warp keeps few loads in flight, so groups must be many. */
#include "tiles.h"

#define ROWS 16

template <int D> struct rows_state {
    float m[2], l[2], O[D / 8][4];
};

/* S becomes P; m, l and O are put relative to the new maximum. */
template <int D, int HALF>
static __device__ __forceinline__ void softmax_tile(struct rows_state<D> *s,
                                                    float S[KEY_TILE(D) / 8][4],
                                                    uint32_t P[KEY_TILE(D) / 8][2], int seen,
                                                    const struct decode_args *d)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float m = s->m[h], sum = 0.0f;
#pragma unroll
        for (int n = 0; n < KEY_TILE(D) / 8; n++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float *x = &S[n][2 * h + e];
                *x = __fmul_rn(*x, d->a.scale);                         /* SCALE */
                *x = (int)(8 * n + 2 * (threadIdx.x & 3) + e) < seen ? *x : -INFINITY; /* MASK */
                m = fmaxf(m, *x);
            }
        m = quad_max(m);                                                /* ROW_MAX */
        float shift = shift_of(m), decay = exponential(__fsub_rn(s->m[h], shift), d->a.hw);
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
                float p = exponential(__fsub_rn(S[n][e], shift), d->a.hw); /* EXP */
                S[n][e] = p;
                if (d->sum_rounded)
                    p = unpack<HALF>((uint16_t)pack<HALF>(p, 0.0f));    /* ROUND_P */
                sum = __fadd_rn(sum, p);
            }
        s->l[h] = __fadd_rn(s->l[h], quad_sum(sum));                    /* ROW_SUM */
#pragma unroll
        for (int n = 0; n < KEY_TILE(D) / 8; n++)
            P[n][h] = pack<HALF>(S[n][2 * h], S[n][2 * h + 1]);         /* ROUND_P */
    }
}

/* What the group leaves of row g + 8h, a query head: its record at `at`. */
template <int D, int HALF>
static __device__ __forceinline__ void
leave_record(const struct decode_args *d, const struct rows_state<D> *s, int h, int64_t at)
{
    bool by_lse = d->merge == GPU_MERGE_LSE;
    bool divides =
        (by_lse || d->merge == GPU_MERGE_NORMALISED) && (s->l[h] > 0.0f || s->l[h] < 0.0f);
    int64_t first = at * D + 2 * (threadIdx.x & 3);
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
        float lo = s->O[n][2 * h], hi = s->O[n][2 * h + 1];
        lo = divides ? __fdiv_rn(lo, s->l[h]) : lo;                     /* GROUP */
        hi = divides ? __fdiv_rn(hi, s->l[h]) : hi;
        if (d->narrow) {
            *(uint32_t *)((uint16_t *)d->part_o + first + 8 * n) = pack<HALF>(lo, hi);
        } else {
            ((float *)d->part_o)[first + 8 * n] = lo;
            ((float *)d->part_o)[first + 8 * n + 1] = hi;
        }
    }
    if ((threadIdx.x & 3) != 0)
        return;
    d->part_m[at] = by_lse ? __fadd_rn(s->m[h], poly_log(s->l[h])) : s->m[h];
    d->part_l[at] = s->l[h];
}

/* The n-th key tile of group g, or -1. */
static __device__ __forceinline__ int group_tile(const struct decode_args *d, int tiles, int g,
                                                 int n)
{
    int j = g * d->tiles_each + n;
    if (d->round_robin)
        return g + n * d->splits < tiles ? g + n * d->splits : -1;
    return n < d->tiles_each && j < tiles ? j : -1;
}

template <int D, int HALF>
static __global__ void __launch_bounds__(32, 1) decode_kernel(struct decode_args d)
{
    DYN_SHARED(shared);
    constexpr int KEYS = KEY_TILE(D);
    uint16_t *Q = (uint16_t *)shared, *K = Q + ROWS * D, *V = K + 2 * KEYS * D;
    int group = blockIdx.x, kv_head = blockIdx.y, batch = blockIdx.z;
    int heads = d.a.heads_q / d.a.heads_kv, keys = d.a.keys, tiles = (keys + KEYS - 1) / KEYS;
    const uint16_t *k = d.a.k + head_at(batch, kv_head, d.a.heads_kv, keys, D);
    const uint16_t *v = d.a.v + head_at(batch, kv_head, d.a.heads_kv, keys, D);
    struct rows_state<D> s;
    s.m[0] = s.m[1] = -INFINITY;
    s.l[0] = s.l[1] = 0.0f;
#pragma unroll
    for (int n = 0; n < D / 8; n++)
        s.O[n][0] = s.O[n][1] = s.O[n][2] = s.O[n][3] = 0.0f;

    /* Invariant at the top: of tile n, K and V are on their way into buffer n mod 2. */
    int j = group_tile(&d, tiles, group, 0);
    load_tile<D, ROWS>(Q, d.a.q + head_at(batch, kv_head * heads, d.a.heads_q, 1, D), 0, heads);
    load_tile<D, KEYS>(K, k, j < 0 ? keys : j * KEYS, keys);
    load_tile<D, KEYS>(V, v, j < 0 ? keys : j * KEYS, keys);
    cp_async_commit();
    for (int n = 0; j >= 0; n++) {
        int now = n & 1, next = now ^ 1, following = group_tile(&d, tiles, group, n + 1);
        float S[KEYS / 8][4];
        uint32_t P[KEYS / 8][2];
        if (following >= 0) {
            load_tile<D, KEYS>(K + next * KEYS * D, k, following * KEYS, keys);
            load_tile<D, KEYS>(V + next * KEYS * D, v, following * KEYS, keys);
        }
        cp_async_commit();
        cp_async_wait<1>();
        __syncthreads(); /* Q, K and V of this tile, of all lanes */
        product_abt<D, HALF, KEYS / 8>(S, Q, 0, K + now * KEYS * D, 0); /* QK */
        softmax_tile<D, HALF>(&s, S, P, keys - j * KEYS, &d);
        product_ab<D, HALF, KEYS, D / 8>(s.O, P, V + now * KEYS * D, 0, 0); /* PV */
        __syncthreads(); /* all lanes have left this buffer */
        j = following;
    }
    cp_async_wait<0>();
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int row = threadIdx.x / 4 + 8 * h;
        int64_t head = (int64_t)batch * d.a.heads_q + kv_head * heads + row;
        if (row < heads)
            leave_record<D, HALF>(&d, &s, h, head * d.splits + group);
    }
}

template <int D, int HALF> static void launch(struct decode_args d)
{
    void (*decode)(struct decode_args) = decode_kernel<D, HALF>;
    dim3 grid(d.splits, d.a.heads_kv, d.a.batch);
    LAUNCH(decode, grid, 32, DECODE_SHARED(D), d);
}

extern "C" void gpu_decode(struct decode_args d)
{
    struct attention_args a = d.a;
#define ONE(d_) ONE_HEAD_SIZE(d_, (launch<D, HALF>(d)))
    HEAD_SIZES(ONE)
}
