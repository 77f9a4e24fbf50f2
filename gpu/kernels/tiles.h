/* tiles.h: what the tensor-core kernels share: tiles of 16-bit numbers in shared memory, the two
   products of attention by one warp, maxima and sums over a row's four lanes.

   A tile is ROWS x D numbers; its 16-byte chunks are swizzled so that the eight rows an ldmatrix
   reads lie in different banks.  D, and HALF (fp16, else bf16), are template arguments: arrays in
   registers need constant indices. */
#ifndef FLASHULP_TILES_H
#define FLASHULP_TILES_H

#include "kernels.h"
#include "prims.h"

#define WARPS 4
#define THREADS (32 * WARPS)

/* Which head sizes are compiled: X(D). */
#ifndef HEAD_SIZES
#define HEAD_SIZES(X) X(32) X(64) X(128) X(256)
#endif
/* statement with D a constant equal to a.D and HALF one equal to a.half. */
#define ONE_HEAD_SIZE(d, statement)                                                                \
    if (a.D == d && a.half) { enum { D = d, HALF = 1 }; statement; }                               \
    if (a.D == d && !a.half) { enum { D = d, HALF = 0 }; statement; }

/* Chunk c (columns 8c .. 8c + 7) of a row. */
template <int D>
static __device__ __forceinline__ uint16_t *chunk_of(uint16_t *tile, int row, int c)
{
    int flip = D >= 64 ? row & 7 : row >> 1 & 3; /* rows of 64 bytes: two fill the 32 banks */
    return tile + row * D + ((c ^ flip) << 3);
}

/* Rows first .. first + ROWS - 1 of a (count x D) matrix, zeros past its end; asynchronous. */
template <int D, int ROWS>
static __device__ __forceinline__ void load_tile(uint16_t *tile, const uint16_t *matrix, int first,
                                                 int count)
{
    for (int n = threadIdx.x; n < ROWS * (D / 8); n += blockDim.x) {
        int row = n / (D / 8), c = n % (D / 8), inside = first + row < count;
        const uint16_t *from = matrix + (inside ? (int64_t)(first + row) * D + 8 * c : 0);
        cp_async16_zfill(chunk_of<D>(tile, row, c), from, inside ? 16 : 0);
    }
}

template <int HALF> static __device__ __forceinline__ uint32_t pack(float lo, float hi)
{
    return HALF ? pack_f16(lo, hi) : pack_bf16(lo, hi);
}

template <int HALF> static __device__ __forceinline__ float unpack(uint16_t word)
{
    return HALF ? f16_to_float(word) : bf16_to_float(word);
}

template <int HALF>
static __device__ __forceinline__ void mma(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    if (HALF)
        mma_m16n8k16_f16(d, a, b);
    else
        mma_m16n8k16_bf16(d, a, b);
}

/* Fragments of A = rows row0 .. row0 + 15, columns 16k .. 16k + 15 of a tile. */
template <int D>
static __device__ __forceinline__ void fragment_a(uint32_t f[4], uint16_t *tile, int row0, int k)
{
    int lane = threadIdx.x & 31;
    ldmatrix_x4(f, chunk_of<D>(tile, row0 + (lane & 15), 2 * k + (lane >> 4)));
}

/* The same of the tile's transpose: A[m][k] = tile[row0 + k][8c + m]. */
template <int D>
static __device__ __forceinline__ void fragment_at(uint32_t f[4], uint16_t *tile, int row0, int c)
{
    int lane = threadIdx.x & 31;
    ldmatrix_x4_trans(f,
                      chunk_of<D>(tile, row0 + (lane >> 4) * 8 + (lane & 7), c + (lane >> 3 & 1)));
}

/* B of A tile^T: columns are the tile's rows row0 .. row0 + 15, k its columns 16k .. 16k + 15;
   f[0] f[1] for the first eight rows, f[2] f[3] for the others. */
template <int D>
static __device__ __forceinline__ void fragment_bt(uint32_t f[4], uint16_t *tile, int row0, int k)
{
    int lane = threadIdx.x & 31;
    ldmatrix_x4(f, chunk_of<D>(tile, row0 + (lane >> 4) * 8 + (lane & 7), 2 * k + (lane >> 3 & 1)));
}

/* B of A tile: k are the tile's rows row0 .. row0 + 15, columns its columns 8c .. 8c + 15. */
template <int D>
static __device__ __forceinline__ void fragment_b(uint32_t f[4], uint16_t *tile, int row0, int c)
{
    int lane = threadIdx.x & 31;
    ldmatrix_x4_trans(f, chunk_of<D>(tile, row0 + (lane & 15), c + (lane >> 4)));
}

/* S[n] = rows row0 .. row0 + 15 of Q times keys key0 + 8n .. of K, for n < N; one warp. */
template <int D, int HALF, int N>
static __device__ __forceinline__ void product_abt(float S[N][4], uint16_t *Q, int row0,
                                                   uint16_t *K, int key0)
{
#pragma unroll
    for (int n = 0; n < N; n++)
        S[n][0] = S[n][1] = S[n][2] = S[n][3] = 0.0f;
#pragma unroll 4
    for (int k = 0; k < D / 16; k++) {
        uint32_t a[4], b[4];
        fragment_a<D>(a, Q, row0, k);
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            fragment_bt<D>(b, K, key0 + 8 * n, k);
            mma<HALF>(S[n], a, b);
            mma<HALF>(S[n + 1], a, b + 2);
        }
    }
}

/* O[n] += P V for columns col0 + 8n of V, n < N; P: the warp's 16 rows and KEYS keys as packed
   accumulators, V's rows from key0. */
template <int D, int HALF, int KEYS, int N>
static __device__ __forceinline__ void product_ab(float O[N][4], const uint32_t P[KEYS / 8][2],
                                                  uint16_t *V, int key0, int col0)
{
#pragma unroll
    for (int k = 0; k < KEYS / 16; k++) {
        /* the accumulators of two products of 8 keys are A of one of 16 */
        const uint32_t a[4] = {P[2 * k][0], P[2 * k][1], P[2 * k + 1][0], P[2 * k + 1][1]};
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            uint32_t b[4];
            fragment_b<D>(b, V, key0 + 16 * k, col0 / 8 + n);
            mma<HALF>(O[n], a, b);
            mma<HALF>(O[n + 1], a, b + 2);
        }
    }
}

/* Does the tile hold a NaN or an infinity?  One warp, all its lanes. */
template <int HALF> static __device__ bool not_finite(const uint16_t *tile, int count)
{
    uint32_t top = HALF ? 0x7C00u : 0x7F80u, found = 0;
    for (int n = threadIdx.x & 31; n < count / 2; n += 32) {
        uint32_t two = ((const uint32_t *)tile)[n];
        found |= (two & top) == top || (two >> 16 & top) == top;
    }
    return __any_sync(0xFFFFFFFFu, found != 0);
}

/* Of rows k and k + 1 of B, a word of a fragment, those below `edge`; with FROM the others. */
template <bool FROM> static __device__ __forceinline__ uint32_t cut(uint32_t two, int k, int edge)
{
    two &= (k < edge) != FROM ? ~0u : ~0xFFFFu;
    return (k + 1 < edge) != FROM ? two : two & 0xFFFFu;
}

/* Row `row` of one step of A B, from a product of its own; of B's rows, k0 .. k0 + 15, it takes
   those below edge + row, or with FROM those from there on. */
template <int HALF, bool FROM>
static __device__ __forceinline__ void mma_of_row(float d[4], const uint32_t a[4],
                                                  const uint32_t b[2], int k0, int edge, int row)
{
    int g = (threadIdx.x & 31) / 4, k = k0 + 2 * (threadIdx.x & 3);
    const uint32_t own[2] = {cut<FROM>(b[0], k, edge + row), cut<FROM>(b[1], k + 8, edge + row)};
    float part[4] = {d[0], d[1], d[2], d[3]};
    mma<HALF>(part, a, own);
    d[0] = row == g ? part[0] : d[0];
    d[1] = row == g ? part[1] : d[1];
    d[2] = row == g + 8 ? part[2] : d[2];
    d[3] = row == g + 8 ? part[3] : d[3];
}

/* One step of A B where B holds something that is not finite and that not every row takes: 0 times
   that is NaN.  Sixteen times the work, and hardly ever done. */
template <int HALF, bool FROM>
static __device__ __forceinline__ void mma_by_row(float d[4], const uint32_t a[4],
                                                  const uint32_t b[2], int k0, int edge)
{
#pragma unroll 1
    for (int row = 0; row < 16; row++)
        mma_of_row<HALF, FROM>(d, a, b, k0, edge, row);
}

/* As product_ab; where something is hidden, row r takes V's rows below edge + r only. */
template <int D, int HALF, int KEYS, int N>
static __device__ __forceinline__ void product_seen(float O[N][4], const uint32_t P[KEYS / 8][2],
                                                    uint16_t *V, int key0, int col0, bool hidden,
                                                    int edge)
{
    if (!hidden) {
        product_ab<D, HALF, KEYS, N>(O, P, V, key0, col0);
        return;
    }
#pragma unroll
    for (int k = 0; k < KEYS / 16; k++) {
        const uint32_t a[4] = {P[2 * k][0], P[2 * k][1], P[2 * k + 1][0], P[2 * k + 1][1]};
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            uint32_t b[4];
            fragment_b<D>(b, V, key0 + 16 * k, col0 / 8 + n);
            if constexpr (N <= 4) {
                mma_by_row<HALF, false>(O[n], a, b, key0 + 16 * k, edge);
                mma_by_row<HALF, false>(O[n + 1], a, b + 2, key0 + 16 * k, edge);
            } else {
#pragma unroll 1
                for (int row = 0; row < 16; row++) { /* here two loops would spill */
                    mma_of_row<HALF, false>(O[n], a, b, key0 + 16 * k, edge, row);
                    mma_of_row<HALF, false>(O[n + 1], a, b + 2, key0 + 16 * k, edge, row);
                }
            }
        }
    }
}

/* Over the four lanes that share a row. */
static __device__ __forceinline__ float quad_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
    return fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
}

static __device__ __forceinline__ float quad_sum(float x)
{
    x = __fadd_rn(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
    return __fadd_rn(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
}

/* e^x: fmaf alone, the same bits everywhere; or the hardware's 2^(x log2 e). */
static __device__ __forceinline__ float exponential(float x, int hw)
{
    return hw ? exp2_approx(__fmul_rn(x, 0x1.715476p0f)) : poly_exp(x);
}

/* What is subtracted from scores: nothing where the maximum is still -inf. */
static __device__ __forceinline__ float shift_of(float m)
{
    return m == -INFINITY ? 0.0f : m;
}

/* Keys that row r sees are 0 .. seen - 1: causal is aligned to the bottom right. */
static __device__ __forceinline__ int keys_seen(const struct attention_args *a, int r)
{
    int seen = a->causal ? r + 1 + a->keys - a->rows : a->keys;
    seen = seen < a->keys ? seen : a->keys;
    return seen > 0 && r < a->rows ? seen : 0;
}

/* Does the tile's part of V that begins at key0 hold something not finite, and a key that a row of
   row0 .. does not see?  Row row0 sees least.  One warp, all its lanes. */
template <int D, int HALF, int KEYS>
static __device__ __forceinline__ bool hides(const struct attention_args *a, int row0, int key0,
                                             const uint16_t *V)
{
    int end = key0 + KEYS < a->keys ? key0 + KEYS : a->keys;
    return a->causal && keys_seen(a, row0) < end && not_finite<HALF>(V, KEYS * D);
}

/* The first key behind those that row row0 sees under causal, counted from key0: one more a row. */
static __device__ __forceinline__ int causal_edge(const struct attention_args *a, int row0,
                                                  int key0)
{
    return row0 + 1 + a->keys - a->rows - key0;
}

/* Key tiles that some row of row0 .. row0 + count - 1 sees. */
static __device__ __forceinline__ int tiles_seen(const struct attention_args *a, int row0,
                                                 int count, int tile)
{
    int last = row0 + count < a->rows ? row0 + count : a->rows;
    return (keys_seen(a, last - 1) + tile - 1) / tile;
}

/* One head of a (batch, heads, rows, D) tensor. */
static __device__ __forceinline__ int64_t head_at(int batch, int head, int heads, int rows, int D)
{
    return ((int64_t)batch * heads + head) * rows * D;
}

/* Output row r, columns col0 .. col0 + COLS - 1, of which O holds 2t, 2t + 1 of each eight. */
template <int D, int COLS, int HALF>
static __device__ __forceinline__ void store_rows(uint16_t *o, const float (*O)[4], int half, int r,
                                                  int col0)
{
    uint32_t *to = (uint32_t *)(o + (int64_t)r * D + col0 + 2 * (threadIdx.x & 3));
#pragma unroll
    for (int n = 0; n < COLS / 8; n++)
        to[4 * n] = pack<HALF>(O[n][2 * half], O[n][2 * half + 1]);
}

#endif
