/* matrix.c: mma and ldmatrix: each lane leaves its fragments, the last one has the matrices
   multiplied or loaded, each takes its part away.

   ldmatrix: lane 8 i + r names row r of matrix i; with g = lane / 4 and t = lane % 4 a lane gets of
   each matrix row g's elements 2t and 2t + 1, or transposed: column g's. */
#include "gpu/emulator/runtime.h"

#include <assert.h>
#include <string.h>

#include "gpu/emulator/banks.h"
#include "gpu/emulator/lanes.h"
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
    assert(16 % step_bf16.L == 0);
}

static bool whole_warp(const struct warp *w, const struct rendezvous *r)
{
    if (r->arrived == UINT32_MAX)
        return true;
    report(FAULT_BAD_MASK, r->at, nowhere, "%s needs all 32 lanes of the warp; of warp %d only %s",
           r->kind->name, w->number, lanes_text(r->arrived).text);
    return false;
}

static void multiply(struct warp *w, const struct rendezvous *r, bool bf16)
{
    if (!whole_warp(w, r))
        return;
    if (emulator_options.mma == NULL)
        bodies->chain(&w->fragments, bf16);
    else
        bodies->steps(&w->fragments, bf16, bf16 ? &step_bf16 : &step_f16);
    emulator_count.mma++;
    lanes_product(w);
}

static void perform_bf16(struct warp *w, const struct rendezvous *r)
{
    multiply(w, r, true);
}
static void perform_f16(struct warp *w, const struct rendezvous *r)
{
    multiply(w, r, false);
}
static const struct collective mma_bf16 = {"mma.m16n8k16 (bf16)", perform_bf16, true};
static const struct collective mma_f16 = {"mma.m16n8k16 (f16)", perform_f16, true};

void cuemu_mma_bf16(struct cuemu_site at)
{
    meet(&mma_bf16, UINT32_MAX, at);
}

void cuemu_mma_f16(struct cuemu_site at)
{
    meet(&mma_f16, UINT32_MAX, at);
}

/* A row's 16 bytes: in shared memory, at a multiple of 16; zeros instead of a wrong one. */
static const unsigned char *checked_row(const struct warp *w, int n, const struct rendezvous *r)
{
    static const unsigned char nothing[16];
    const struct lane *l = &w->lane[n];
    const void *row = w->row[n];
    size_t offset;
    enum space space = space_of(row, 16, &offset);
    if (space != SPACE_SHARED && space != SPACE_STATIC_SHARED) {
        report(FAULT_OUT_OF_BOUNDS, r->at, nowhere,
               "%s: the row that %s names is not in shared memory", r->kind->name, name_of(l).text);
        return nothing;
    }
    if ((uintptr_t)row % 16 != 0) {
        report(FAULT_MISALIGNED, r->at, nowhere,
               "%s: the row that %s names begins at shared +0x%zx; it must be a multiple of 16",
               r->kind->name, name_of(l).text, offset);
        return nothing;
    }
    if (detector_watches)
        detector_access(l, row, 16, ACCESS_READ, origin_of_site(r->at));
    return row;
}

static void load_matrices(struct warp *w, const struct rendezvous *r, int matrices, bool transposed)
{
    const unsigned char *row[WARP_LANES];
    if (!whole_warp(w, r))
        return;
    for (int n = 0; n < 8 * matrices; n++)
        row[n] = checked_row(w, n, r);
    for (int i = 0; i < matrices; i++)
        for (int n = 0; n < WARP_LANES; n++) {
            int g = n / 4, t = n % 4;
            uint16_t pair[2];
            if (transposed) {
                memcpy(&pair[0], row[8 * i + 2 * t] + 2 * g, 2);
                memcpy(&pair[1], row[8 * i + 2 * t + 1] + 2 * g, 2);
            } else {
                memcpy(pair, row[8 * i + g] + 4 * t, 4);
            }
            w->loaded[i][n] = (uint32_t)pair[1] << 16 | pair[0];
        }
    emulator_count.ldmatrix++;
    banks_ldmatrix(row, matrices);
}

static void perform_x4(struct warp *w, const struct rendezvous *r)
{
    load_matrices(w, r, 4, false);
}
static void perform_x4_trans(struct warp *w, const struct rendezvous *r)
{
    load_matrices(w, r, 4, true);
}
static void perform_x2(struct warp *w, const struct rendezvous *r)
{
    load_matrices(w, r, 2, false);
}
static void perform_x2_trans(struct warp *w, const struct rendezvous *r)
{
    load_matrices(w, r, 2, true);
}

void cuemu_ldmatrix(int matrices, int transposed, struct cuemu_site at)
{
    static const struct collective kind[2][2] = {
        {{"ldmatrix.x2", perform_x2, true}, {"ldmatrix.x2.trans", perform_x2_trans, true}},
        {{"ldmatrix.x4", perform_x4, true}, {"ldmatrix.x4.trans", perform_x4_trans, true}}};
    meet(&kind[matrices == 4][transposed != 0], UINT32_MAX, at);
}
