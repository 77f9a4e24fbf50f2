/* test_order_lanes.c: sums as the lanes of a warp take them, at every processor level, against a
   flat statement of each verb: which lane owns a column, its chain, the butterfly as a recursion,
   what is fused.  Then FlashAttention-2's row sum written out by hand: (s0 + s2) + (s1 + s3). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/arith.h"
#include "simulator/cpu.h"
#include "tests/random_problem.h"

extern const struct arithmetic arith_float_base, arith_float_v3, arith_float_v4;

enum { MOST = 64, QUAD = -1, TABLE = -2 };

static const int table[] = {1, 1, 0, 3, 3, 0};

static const struct row {
    const char *text;
    int owners; /* N of mod N, QUAD, TABLE */
    int lanes;
    bool fused;
    int offsets, offset[5];
} rows[] = {
    {"lanes:quad:2,1", QUAD, 4, false, 2, {2, 1}},
    {"lanes:quad:fused:2,1", QUAD, 4, true, 2, {2, 1}},
    {"lanes:quad:1,2", QUAD, 4, false, 2, {1, 2}},
    {"lanes:mod2:fused:1", 2, 2, true, 1, {1}},
    {"lanes:mod8:4,2,1", 8, 8, false, 3, {4, 2, 1}},
    {"lanes:mod8:fused:1,7,2", 8, 8, true, 3, {1, 7, 2}},
    {"lanes:mod32:16,8,4,2,1", 32, 32, false, 5, {16, 8, 4, 2, 1}},
    {"lanes:(1 1 0 3 3 0):fused:3,1", TABLE, 4, true, 2, {3, 1}},
};

static int owner(const struct row *row, int c)
{
    return row->owners == QUAD ? c / 2 % 4 : row->owners == TABLE ? table[c % 6] : c % row->owners;
}

/* Lane i after the first `steps` offsets. */
static float after(const struct row *row, const float *lane, int i, int steps)
{
    if (steps == 0)
        return lane[i];
    return after(row, lane, i, steps - 1) + after(row, lane, i ^ row->offset[steps - 1], steps - 1);
}

/* The terms of one sum: x[c] or x[c] y[c], +0 where not seen. */
struct terms {
    int count;
    float x[MOST], y[MOST];
    bool product, seen[MOST];
};

/* Lane t's own terms, in ascending order, from `start`, or from the first of them. */
static float lane_chain(const struct row *row, const struct terms *t, int lane, const float *start)
{
    bool begun = start != NULL;
    float sum = begun ? *start : 0;
    for (int c = 0; c < t->count; c++) {
        if (owner(row, c) != lane)
            continue;
        float term = !t->seen[c] ? 0.0f : t->product ? t->x[c] * t->y[c] : t->x[c];
        if (!begun)
            sum = term;
        else if (t->seen[c] && t->product)
            sum = fmaf(t->x[c], t->y[c], sum);
        else
            sum = sum + term;
        begun = true;
    }
    return sum;
}

static float whole(const struct row *row, const struct terms *t)
{
    float lane[32];
    for (int i = 0; i < row->lanes; i++)
        lane[i] = lane_chain(row, t, i, NULL);
    return after(row, lane, 0, row->offsets);
}

/* A lane that goes on from l, rescaled: its first own term inside the fused step, or after it. */
static float rescaled_lane(const struct row *row, const struct terms *t, int lane, float l,
                           const float *decay)
{
    float start;
    int first = 0;
    while (first < t->count && owner(row, first) != lane)
        first++;
    if (decay == NULL)
        return lane_chain(row, t, lane, NULL);
    if (!row->fused || first == t->count) {
        start = l * *decay;
        return lane_chain(row, t, lane, &start);
    }
    start = fmaf(l, *decay, t->seen[first] ? t->x[first] : 0.0f);
    for (int c = first + 1; c < t->count; c++)
        if (owner(row, c) == lane)
            start = start + (t->seen[c] ? t->x[c] : 0.0f);
    return start;
}

static struct tile *drawn(struct run *r, int height, int width, uint64_t *state)
{
    struct tile *t = tile_new(r, TENSOR_SCRATCH, height, width);
    for (int i = 0; i < height * width; i++)
        ((float *)t->data)[i] = draw_below(state, 16) == 0 ? -0.0f : (float)draw_normal(state, 1);
    return t;
}

static void hide_some(struct tile *t, uint64_t *state)
{
    t->masked = draw_below(state, 2) == 0;
    for (int i = 0; i < t->rows; i++) {
        t->lo[i] = (int)draw_below(state, t->cols);
        t->hi[i] = t->lo[i] + (int)draw_below(state, t->cols - t->lo[i] + 1);
    }
}

static bool seen(const struct tile *t, int row, int col)
{
    return !t->masked || (col >= t->lo[row] && col < t->hi[row]);
}

static float at(const struct tile *t, int row, int col)
{
    return ((const float *)t->data)[(t->rows == 1 ? 0 : row) * t->cols + (t->cols == 1 ? 0 : col)];
}

/* What the verb's output (i, j) adds up. */
static struct terms terms_of(enum verb verb, const struct tile *a, const struct tile *b, int i,
                             int j)
{
    struct terms t = {.count = verb == VERB_MMA_ATB ? a->rows : a->cols};
    t.product = verb == VERB_ROW_DOT || verb == VERB_MMA_AB || verb == VERB_MMA_ABT ||
                verb == VERB_MMA_ATB;
    for (int k = 0; k < t.count; k++) {
        bool turned = verb == VERB_MMA_ATB;
        t.x[k] = turned ? at(a, k, i) : at(a, i, k);
        t.seen[k] = turned ? seen(a, k, i) : seen(a, i, k);
        t.y[k] = !t.product ? 1
                 : verb == VERB_ROW_DOT ? at(b, i, k)
                 : verb == VERB_MMA_ABT ? at(b, j, k)
                                        : at(b, k, j);
    }
    return t;
}

static float wanted(const struct row *row, enum verb verb, bool apart, float before,
                    const struct tile *a, const struct tile *b, const float *decay, int i, int j)
{
    struct terms t = terms_of(verb, a, b, i, j);
    if (apart)
        return verb == VERB_ROW_SUM ? lane_chain(row, &t, j, &before)
                                    : rescaled_lane(row, &t, j, before, decay);
    if (verb == VERB_FOLD && a->cols == 1)
        return t.seen[0] ? t.x[0] : 0;
    if (verb == VERB_FOLD && a->cols == row->lanes) {
        for (int k = 0; k < t.count; k++)
            t.x[k] = t.seen[k] ? t.x[k] : 0;
        return after(row, t.x, 0, row->offsets);
    }
    float sum = whole(row, &t);
    if (verb == VERB_FOLD || verb == VERB_MMA_ABT ||
        (verb == VERB_ROW_SUM_RESCALED && decay == NULL))
        return sum;
    if (verb == VERB_ROW_SUM_RESCALED)
        return row->fused ? fmaf(before, *decay, sum) : before * *decay + sum;
    return before + sum;
}

struct operands {
    struct tile *dst, *a, *b;
};

static struct operands draw_operands(struct run *r, enum verb verb, const struct row *row,
                                     bool apart, uint64_t *state)
{
    int n = 1 + (int)draw_below(state, MOST), height = 1 + (int)draw_below(state, 9);
    int width = 1 + (int)draw_below(state, 40);
    bool along = verb != VERB_MMA_AB && verb != VERB_MMA_ABT && verb != VERB_MMA_ATB;
    struct operands o;
    if (verb == VERB_FOLD && draw_below(state, 2) == 0)
        n = draw_below(state, 3) == 0 ? 1 : row->lanes;
    o.dst = drawn(r, height, along ? (apart ? row->lanes : 1) : width, state);
    o.a = verb == VERB_MMA_ATB ? drawn(r, n, height, state) : drawn(r, height, n, state);
    o.b = verb == VERB_ROW_SUM_RESCALED ? drawn(r, height, 1, state)
          : verb == VERB_MMA_ABT        ? drawn(r, width, n, state)
          : along                       ? drawn(r, height, n, state)
                                        : drawn(r, n, width, state);
    if (verb != VERB_MMA_ABT)
        hide_some(o.a, state);
    return o;
}

static void check(const struct arithmetic *arith, enum verb verb, const struct row *row, bool apart,
                  bool anew, uint64_t seed)
{
    struct run r;
    struct message why;
    struct policy policy = policy_table(POLICY_FP32);
    uint64_t state = seed;
    assert_true(order_parse(row->text, &policy.site[SITE_OUT_ACC].order, &why));
    assert_true(run_new(&r, arith, &policy, 53, &why));
    struct operands o = draw_operands(&r, verb, row, apart, &state);
    int count = o.dst->rows * o.dst->cols;
    float *want = malloc(sizeof *want * (size_t)count), *got = o.dst->data;
    assert_non_null(want);
    for (int n = 0; n < count; n++) {
        float decay = verb == VERB_ROW_SUM_RESCALED ? at(o.b, n / o.dst->cols, 0) : 0;
        want[n] = wanted(row, verb, apart, got[n], o.a, o.b, anew ? NULL : &decay, n / o.dst->cols,
                         n % o.dst->cols);
    }
    struct call call = {.verb = verb, .dst = o.dst, .a = o.a, .b = anew ? NULL : o.b,
                        .arg_site = SITE_PV_PRODUCT, .site = SITE_OUT_ACC};
    r.perform(&r, &call);
    for (int n = 0; n < count; n++)
        if (memcmp(&want[n], &got[n], sizeof *got) != 0)
            fail_msg("verb %d, %s, seed %llu, %s: [%d][%d] is %a, want %a", verb, row->text,
                     (unsigned long long)seed, apart ? "apart" : "together", n / o.dst->cols,
                     n % o.dst->cols, (double)got[n], (double)want[n]);
    free(want);
    run_free(&r);
}

static void all_verbs(const struct arithmetic *arith)
{
    static const enum verb verbs[] = {VERB_ROW_SUM, VERB_ROW_SUM_RESCALED, VERB_ROW_DOT, VERB_FOLD,
                                      VERB_MMA_AB, VERB_MMA_ABT, VERB_MMA_ATB};
    uint64_t seed = 1;
    for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (int n = 0; n < 40; n++, seed++) {
                bool apart = v < 2 && n % 2 == 0;
                check(arith, verbs[v], &rows[i], apart, v == 1 && n % 8 > 5, seed);
            }
}

static void equal_flat_sums(void **unused)
{
    (void)unused;
    all_verbs(&arith_float_base);
#ifdef __x86_64__
    if (cpu_level() >= CPU_V3)
        all_verbs(&arith_float_v3);
    if (cpu_level() >= CPU_V4)
        all_verbs(&arith_float_v4);
#endif
}

/* Two key tiles of ten columns: the second joins with a fused first add; lanes 0 1 2 3 own columns
   0 1 8 9, 2 3, 4 5, 6 7. */
static void flash_attention_2(void **unused)
{
    (void)unused;
    struct run r;
    struct message why;
    struct policy policy = policy_table(POLICY_FP32);
    uint64_t state = 7;
    assert_true(policy_order(&policy, "ROW_SUM=lanes:quad:fused:2,1", &why));
    for (int n = 0; n < 100; n++) {
        assert_true(run_new(&r, arith_float(), &policy, 53, &why));
        struct tile *P = drawn(&r, 1, 10, &state), *T = drawn(&r, 1, 10, &state);
        struct tile *l = tile_new(&r, TENSOR_L_SUM, 1, 4), *sum = tile_new(&r, TENSOR_L_SUM, 1, 1);
        struct tile *decay = drawn(&r, 1, 1, &state);
        const float *p = P->data, *t = T->data, d = *(float *)decay->data;
        float s0 = fmaf(((p[0] + p[1]) + p[8]) + p[9], d, t[0]), s1 = fmaf(p[2] + p[3], d, t[2]);
        float s2 = fmaf(p[4] + p[5], d, t[4]), s3 = fmaf(p[6] + p[7], d, t[6]);
        s0 = ((s0 + t[1]) + t[8]) + t[9];
        float want = (s0 + (s2 + t[5])) + ((s1 + t[3]) + (s3 + t[7]));
        row_sum_rescaled(&r, l, P, NULL, SITE_ROW_SUM);
        row_sum_rescaled(&r, l, T, decay, SITE_ROW_SUM);
        fold(&r, sum, l, SITE_ROW_SUM);
        assert_memory_equal(sum->data, &want, sizeof want);
        run_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_flat_sums),
        cmocka_unit_test(flash_attention_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
