/* warp.c: instructions that a whole warp makes together, and a lane's asynchronous copies.

   Layouts, PTX ISA, mma.m16n8k16 (.m16n8k8) with 16-bit factors: with group = lane / 4 and t = lane mod 4,
     element i of A (two a register) stands in row group, or group + 8 where bit 1 of i is set, at
       k = 2 t + (i mod 2), + 8 where i >= 4;
     element i of B at k = 2 t + (i mod 2), + 8 where i >= 2, in column group;
     element i of C and D in row group, + 8 where i >= 2, and column 2 t + (i mod 2). */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ptx/parts.h"
#include "reference/format.h"

enum { ROWS = 16, COLUMNS = 8, DEPTH = 16 };

/* All 32 lanes, or the launch ends. */
static bool whole_warp(struct ptx_block *b, const struct ptx_warp *w, uint32_t active)
{
    if (active == UINT32_MAX)
        return true;
    ptx_fail(b, w, active == 0 ? 0 : __builtin_ctz(active),
             "needs all 32 lanes of the warp; some have gone another way");
    return false;
}

/* vote.sync.any.pred result, predicate, members. */
void ptx_vote_any(struct ptx_block *b, struct ptx_warp *w, uint32_t active)
{
    const struct ptx_operand *o = b->now->operand;
    uint64_t any = 0;
    for (uint32_t left = active; left != 0; left &= left - 1)
        any |= ptx_value(w, __builtin_ctz(left), &o[1]) & 1;
    for (uint32_t left = active; left != 0; left &= left - 1) {
        int lane = __builtin_ctz(left);
        if ((uint32_t)ptx_value(w, lane, &o[2]) != active)
            ptx_fail(b, w, lane, "its members are not the lanes that have come");
        w->reg[o[0].reg][lane] = any;
    }
}

/* shfl.sync.bfly.b32 d|p, a, lane mask, clamp and segment, members. */
void ptx_shuffle(struct ptx_block *b, struct ptx_warp *w, uint32_t active)
{
    const struct ptx_operand *o = b->now->operand;
    uint64_t from[PTX_LANES];
    for (int lane = 0; lane < PTX_LANES; lane++)
        from[lane] = ptx_value(w, lane, &o[2]);
    for (uint32_t left = active; left != 0; left &= left - 1) {
        int lane = __builtin_ctz(left);
        uint32_t by = (uint32_t)ptx_value(w, lane, &o[3]);
        uint32_t clamp = (uint32_t)ptx_value(w, lane, &o[4]);
        uint32_t members = (uint32_t)ptx_value(w, lane, &o[5]), segment = clamp >> 8 & 31;
        int most = (int)(((uint32_t)lane & segment) | (clamp & 31 & ~segment));
        int other = lane ^ (int)(by & 31);
        bool inside = other <= most;
        if (members != active || (inside && (active >> other & 1) == 0)) {
            ptx_fail(b, w, lane, "its members are not the lanes that have come");
            return;
        }
        w->reg[o[0].reg][lane] = (uint32_t)from[inside ? other : lane];
        w->reg[o[1].reg][lane] = inside;
    }
}

struct matrices {
    float a[ROWS][DEPTH], b[COLUMNS][DEPTH], c[ROWS][COLUMNS]; /* b(k, n) at [n][k] */
};

/* What 16-bit words stand for. */
static float word_value[2][1 << 16];

static void fill_word_values(void)
{
    for (uint64_t word = 0; word < 1 << 16; word++) {
        word_value[0][word] = (float)format_decode(FORMAT_BF16, word);
        word_value[1][word] = (float)format_decode(FORMAT_FP16, word);
    }
}

static float half_word(const struct ptx_instruction *i, uint64_t word, int which)
{
    return word_value[i->half][word >> 16 * which & 0xFFFF];
}

static void gather(const struct ptx_block *b, const struct ptx_warp *w, struct matrices *m)
{
    static pthread_once_t filled = PTHREAD_ONCE_INIT;
    pthread_once(&filled, fill_word_values);
    const struct ptx_instruction *now = b->now;
    const struct ptx_operand *a = now->operand + 4;
    int a_words = now->deep / 4, b_words = now->deep / 8;
    for (int lane = 0; lane < PTX_LANES; lane++) {
        int group = lane / 4, t = lane % 4;
        for (int i = 0; i < 2 * a_words; i++)
            m->a[group + 8 * (i >> 1 & 1)][2 * t + i % 2 + 8 * (i / 4)] =
                half_word(now, w->reg[a[i / 2].reg][lane], i % 2);
        for (int i = 0; i < 2 * b_words; i++)
            m->b[group][2 * t + i % 2 + 8 * (i / 2)] =
                half_word(now, w->reg[a[a_words + i / 2].reg][lane], i % 2);
        for (int i = 0; i < 4; i++)
            m->c[group + 8 * (i / 2)][2 * t + i % 2] =
                ptx_float(ptx_value(w, lane, &a[a_words + b_words + i]));
    }
}

static float dot_add(const struct ptx_block *b, const float *x, const float *y, float sum)
{
    const struct mma_step *step = b->now->half ? &b->f16 : &b->bf16;
    int deep = b->now->deep;
    if (b->launch->mma == NULL) {
        for (int k = 0; k < deep; k++)
            sum = fmaf(x[k], y[k], sum);
        return sum;
    }
    for (int k = 0; k < deep; k += step->L)
        sum = mma_dot_add(step, x + k, y + k, step->L < deep - k ? step->L : deep - k, sum);
    return sum;
}

void ptx_mma(struct ptx_block *b, struct ptx_warp *w, uint32_t active)
{
    struct matrices m;
    if (!whole_warp(b, w, active))
        return;
    gather(b, w, &m);
    for (int row = 0; row < ROWS; row++)
        for (int n = 0; n < COLUMNS; n++)
            m.c[row][n] = dot_add(b, m.a[row], m.b[n], m.c[row][n]);
    for (int lane = 0; lane < PTX_LANES; lane++)
        for (int i = 0; i < 4; i++)
            w->reg[b->now->operand[i].reg][lane] =
                ptx_bits(m.c[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2]);
}

/* Lanes 8 i .. 8 i + 7 name the rows of matrix i. */
void ptx_ldmatrix(struct ptx_block *b, struct ptx_warp *w, uint32_t active)
{
    const struct ptx_instruction *now = b->now;
    int matrices = now->results;
    uint16_t element[4][8][8];
    if (!whole_warp(b, w, active))
        return;
    for (int lane = 0; lane < 8 * matrices; lane++) {
        uint64_t at = ptx_value(w, lane, &now->operand[matrices]);
        const unsigned char *row = ptx_place(b, w, lane, PTX_SHARED, at, 16);
        if (row == NULL)
            return;
        memcpy(element[lane / 8][lane % 8], row, 16);
    }
    for (int lane = 0; lane < PTX_LANES; lane++)
        for (int i = 0; i < matrices; i++) {
            int row = lane / 4, column = 2 * (lane % 4);
            uint32_t low = now->transposed ? element[i][column][row] : element[i][row][column];
            uint32_t high =
                now->transposed ? element[i][column + 1][row] : element[i][row][column + 1];
            w->reg[now->operand[i].reg][lane] = low | high << 16;
        }
}

static void perform(const struct ptx_copy *c)
{
    memset(c->to, 0, 16);
    memcpy(c->to, c->from, (size_t)c->bytes);
}

/* cp.async.cg.shared.global [to], [from], 16, bytes. */
void ptx_copy(struct ptx_block *b, struct ptx_warp *w, int lane)
{
    const struct ptx_operand *o = b->now->operand;
    uint64_t bytes = ptx_value(w, lane, &o[3]);
    struct ptx_copies *copies = &w->copies[lane];
    if (ptx_value(w, lane, &o[2]) != 16 || bytes > 16 || copies->copies == PTX_COPIES) {
        ptx_fail(b, w, lane, "copies 16 bytes, at most 16 of them from memory, 256 at a time");
        return;
    }
    struct ptx_copy c = {.bytes = (int)bytes};
    c.to = ptx_place(b, w, lane, PTX_SHARED, ptx_value(w, lane, &o[0]), 16);
    uint64_t from = ptx_value(w, lane, &o[1]);
    c.from = bytes == 0 ? c.to : ptx_place(b, w, lane, PTX_GLOBAL, from, c.bytes);
    if (b->failed)
        return;
    if (from % 16 != 0)
        ptx_fail(b, w, lane, "copies from an address that is no multiple of 16");
    if (b->launch->late)
        memset(c.to, 0xFF, 16);
    else
        perform(&c);
    copies->copy[copies->copies++] = c;
}

void ptx_copy_commit(struct ptx_warp *w, int lane)
{
    struct ptx_copies *c = &w->copies[lane];
    if (c->groups == PTX_GROUPS) { /* the oldest two become one */
        memmove(c->committed, c->committed + 1, (PTX_GROUPS - 1) * sizeof *c->committed);
        c->groups--;
    }
    c->committed[c->groups++] = c->copies;
}

/* Until at most N of the lane's groups are under way. */
void ptx_copy_wait(struct ptx_block *b, struct ptx_warp *w, int lane)
{
    struct ptx_copies *c = &w->copies[lane];
    int most = (int)ptx_value(w, lane, &b->now->operand[0]), done = c->groups - most;
    if (done <= 0)
        return;
    int copies = c->committed[done - 1];
    for (int i = 0; i < copies && b->launch->late; i++)
        perform(&c->copy[i]);
    memmove(c->copy, c->copy + copies, (size_t)(c->copies - copies) * sizeof *c->copy);
    memmove(c->committed, c->committed + done, (size_t)(c->groups - done) * sizeof *c->committed);
    c->copies -= copies;
    c->groups -= done;
    for (int g = 0; g < c->groups; g++)
        c->committed[g] -= copies;
}
