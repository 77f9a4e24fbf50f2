/* matrix.c: mma and ldmatrix: the lanes' fragments gathered, the matrices multiplied, scattered.

   With g = lane / 4 and t = lane % 4 (PTX ISA, mma.m16n8k16):
     a[0] row g, a[1] row g + 8: k = 2t, 2t + 1 in the low and high half; a[2], a[3]: k + 8
     b[0] k = 2t, 2t + 1 of column g; b[1]: k + 8
     d[0], d[1] row g, columns 2t, 2t + 1; d[2], d[3]: row g + 8
   ldmatrix: lane 8 i + r names row r of matrix i; lane gets of each matrix row g's elements 2t and
   2t + 1, or transposed: column g's. */
#include "gpu/emulator/runtime.h"

#include <assert.h>
#include <string.h>

#include "gpu/emulator/banks.h"
#include "gpu/emulator/detector.h"
#include "gpu/emulator/mma_tile.h"
#include "gpu/emulator/origins.h"
#include "simulator/cpu.h"

static struct mma_step step_bf16, step_f16;
static const struct mma_bodies *bodies;

void matrix_configure(const struct mma *mma)
{
    static const struct mma_bodies *const levels[CPU_LEVELS] = {
        &mma_bodies_base,
#ifdef __x86_64__
        &mma_bodies_v3,
        &mma_bodies_v4,
#endif
    };
    bodies = levels[cpu_level()];
    if (mma == NULL)
        return;
    const struct mma_factor bf16 = {FORMAT_BF16, 0}, f16 = {FORMAT_FP16, 0};
    step_bf16 = mma_step_of(mma, bf16, bf16, FORMAT_FP32);
    step_f16 = mma_step_of(mma, f16, f16, FORMAT_FP32);
    assert(MMA_K % step_bf16.L == 0);
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float bf16_of(uint32_t half)
{
    return float_of(half << 16);
}

/* Subnormals too: 2^112 lifts the exponent's bias. */
static float f16_of(uint32_t half)
{
    uint32_t sign = (half & 0x8000) << 16, magnitude = half & 0x7FFF;
    if (magnitude >= 0x7C00)
        return float_of(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
    float size = float_of(magnitude << 13) * 0x1p112f;
    return sign != 0 ? -size : size;
}

#define GATHER(name, of)                                                                           \
    static void name(struct mma_tile *t, const struct warp *w)                                     \
    {                                                                                              \
        for (int n = 0; n < WARP_LANES; n++) {                                                     \
            const struct lane *l = &w->lane[n];                                                    \
            int g = n / 4, k = n % 4 * 2;                                                          \
            for (int i = 0; i < 4; i++) {                                                          \
                t->a[k + i / 2 * 8][g + i % 2 * 8] = of(l->a[i] & 0xFFFF);                         \
                t->a[k + i / 2 * 8 + 1][g + i % 2 * 8] = of(l->a[i] >> 16);                        \
                t->d[k + i % 2][g + i / 2 * 8] = l->d[i];                                          \
            }                                                                                      \
            for (int i = 0; i < 2; i++) {                                                          \
                t->b[g][k + 8 * i] = of(l->b[i] & 0xFFFF);                                         \
                t->b[g][k + 8 * i + 1] = of(l->b[i] >> 16);                                        \
            }                                                                                      \
        }                                                                                          \
    }
GATHER(gather_bf16, bf16_of)
GATHER(gather_f16, f16_of)

static void multiply(struct mma_tile *t, const struct warp *w, const struct mma_step *step)
{
    if (emulator_options.mma == NULL)
        bodies->chain(t);
    else
        bodies->steps(t, step);
    for (int n = 0; n < WARP_LANES; n++)
        for (int i = 0; i < 4; i++)
            w->lane[n].d[i] = t->d[n % 4 * 2 + i % 2][n / 4 + i / 2 * 8];
    emulator_count.mma++;
}

static bool whole_warp(const struct warp *w, uint32_t mask)
{
    if (mask == UINT32_MAX)
        return true;
    const struct lane *l = &w->lane[__builtin_ctz(mask)];
    report(FAULT_BAD_MASK, l->at, nowhere, "%s needs all 32 lanes of the warp; of warp %d only %s",
           l->collective->name, w->number, lanes_text(mask).text);
    return false;
}

static void perform_bf16(struct warp *w, uint32_t mask)
{
    struct mma_tile t;
    if (!whole_warp(w, mask))
        return;
    gather_bf16(&t, w);
    multiply(&t, w, &step_bf16);
}

static void perform_f16(struct warp *w, uint32_t mask)
{
    struct mma_tile t;
    if (!whole_warp(w, mask))
        return;
    gather_f16(&t, w);
    multiply(&t, w, &step_f16);
}
static const struct collective mma_bf16 = {"mma.m16n8k16 (bf16)", perform_bf16, true};
static const struct collective mma_f16 = {"mma.m16n8k16 (f16)", perform_f16, true};

static void mma(const struct collective *kind, float *d, const uint32_t *a, const uint32_t *b,
                struct cuemu_site at)
{
    struct lane *l = running_lane();
    l->d = d;
    l->a = a;
    l->b = b;
    meet(kind, UINT32_MAX, at);
}

void cuemu_mma_m16n8k16_bf16(float d[4], const uint32_t a[4], const uint32_t b[2],
                             struct cuemu_site at)
{
    mma(&mma_bf16, d, a, b, at);
}

void cuemu_mma_m16n8k16_f16(float d[4], const uint32_t a[4], const uint32_t b[2],
                            struct cuemu_site at)
{
    mma(&mma_f16, d, a, b, at);
}

/* A row's 16 bytes: in shared memory, at a multiple of 16. */
static const unsigned char *checked_row(const struct lane *l)
{
    static const unsigned char nothing[16];
    size_t offset;
    enum space space = space_of(l->row, 16, &offset);
    if (space != SPACE_SHARED && space != SPACE_STATIC_SHARED) {
        report(FAULT_OUT_OF_BOUNDS, l->at, nowhere, "%s: the row that %s names is not in shared memory",
               l->collective->name, name_of(l).text);
        return nothing;
    }
    if ((uintptr_t)l->row % 16 != 0) {
        report(FAULT_MISALIGNED, l->at, nowhere,
               "%s: the row that %s names begins at shared +0x%zx; it must be a multiple of 16",
               l->collective->name, name_of(l).text, offset);
        return nothing;
    }
    if (detector_watches)
        detector_access(l, l->row, 16, ACCESS_READ, origin_of_site(l->at));
    return l->row;
}

static void load_matrices(struct warp *w, uint32_t mask, int matrices, bool transposed)
{
    const unsigned char *row[WARP_LANES];
    if (!whole_warp(w, mask))
        return;
    for (int n = 0; n < 8 * matrices; n++)
        row[n] = checked_row(&w->lane[n]);
    for (int n = 0; n < WARP_LANES; n++)
        for (int i = 0; i < matrices; i++) {
            int g = n / 4, t = n % 4;
            uint16_t pair[2];
            if (transposed) {
                memcpy(&pair[0], row[8 * i + 2 * t] + 2 * g, 2);
                memcpy(&pair[1], row[8 * i + 2 * t + 1] + 2 * g, 2);
            } else {
                memcpy(pair, row[8 * i + g] + 4 * t, 4);
            }
            w->lane[n].r[i] = (uint32_t)pair[1] << 16 | pair[0];
        }
    emulator_count.ldmatrix++;
    banks_ldmatrix(row, matrices);
}

static void perform_x4(struct warp *w, uint32_t mask)
{
    load_matrices(w, mask, 4, false);
}
static void perform_x4_trans(struct warp *w, uint32_t mask)
{
    load_matrices(w, mask, 4, true);
}
static void perform_x2(struct warp *w, uint32_t mask)
{
    load_matrices(w, mask, 2, false);
}
static void perform_x2_trans(struct warp *w, uint32_t mask)
{
    load_matrices(w, mask, 2, true);
}

void cuemu_ldmatrix(uint32_t *r, int matrices, int transposed, const void *row,
                    struct cuemu_site at)
{
    static const struct collective kind[2][2] = {
        {{"ldmatrix.x2", perform_x2, true}, {"ldmatrix.x2.trans", perform_x2_trans, true}},
        {{"ldmatrix.x4", perform_x4, true}, {"ldmatrix.x4.trans", perform_x4_trans, true}}};
    struct lane *l = running_lane();
    l->r = r;
    l->row = row;
    meet(&kind[matrices == 4][transposed != 0], UINT32_MAX, at);
}
