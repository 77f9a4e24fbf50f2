/* test_oracle_decode.c: are the judges of the decode kernels sane?

   Against attention by its definition in double, within what 16-bit weights and outputs allow; on
   inputs whose answer is known; and against their own recorded digests, so that a judge does not
   change by accident. */
#include "tests/oracle_decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

struct arrays {
    float *q, *k, *v, *O;
};

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static float *draw_array(int64_t n, double size, enum oracle_type type, uint64_t *state)
{
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        double sum = -6; /* about normal */
        for (int j = 0; j < 12; j++)
            sum += ldexp((double)(draw(state) >> 11), -53);
        x[i] = oracle_half((float)(size * sum), type);
    }
    return x;
}

static struct arrays draw_case(struct decode_case *c, double size, uint64_t seed)
{
    struct arrays a;
    c->q = a.q = draw_array(c->rows * c->D, size, c->type, &seed);
    c->k = a.k = draw_array(c->keys * c->D, size, c->type, &seed);
    c->v = a.v = draw_array(c->keys * c->D, 1, c->type, &seed);
    a.O = calloc((size_t)(c->rows * c->D), sizeof(float));
    if (c->scale == 0)
        c->scale = (float)(1 / sqrt((double)c->D));
    return a;
}

static void free_arrays(struct arrays *a)
{
    free(a->q);
    free(a->k);
    free(a->v);
    free(a->O);
}

static uint64_t digest(const float *x, int64_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int64_t i = 0; i < 4 * n; i++)
        h = (h ^ (to_bits(x[i / 4]) >> 8 * (i % 4) & 255)) * UINT64_C(0x100000001b3);
    return h;
}

static void expect_equal(const char *name, const float *got, const float *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (to_bits(got[i]) != to_bits(want[i]))
            fail_msg("%s: element %d is %08x (%g), not %08x (%g)", name, (int)i, to_bits(got[i]),
                     got[i], to_bits(want[i]), want[i]);
}

/* O by the definition, and the weighted mean of |v|, which errors are measured by. */
static void define_row(const struct decode_case *c, int64_t r, double *O, double *size)
{
    double *s = malloc((size_t)c->keys * sizeof *s), top = -INFINITY, sum = 0;
    for (int64_t t = 0; t < c->keys; t++) {
        s[t] = 0;
        for (int64_t d = 0; d < c->D; d++)
            s[t] += (double)c->q[r * c->D + d] * c->k[t * c->D + d];
        s[t] *= c->scale;
        top = fmax(top, s[t]);
    }
    for (int64_t d = 0; d < c->D; d++)
        O[d] = size[d] = 0;
    for (int64_t t = 0; t < c->keys; t++) {
        double p = exp(s[t] - top);
        sum += p;
        for (int64_t d = 0; d < c->D; d++) {
            O[d] += p * c->v[t * c->D + d];
            size[d] += p * fabs(c->v[t * c->D + d]);
        }
    }
    for (int64_t d = 0; d < c->D; d++)
        O[d] /= sum, size[d] /= sum;
    free(s);
}

static void expect_near_definition(const char *name, const struct decode_case *c, const float *O,
                                   double bound)
{
    double *want = malloc(2 * (size_t)c->D * sizeof *want), *size = want + c->D, worst = 0;
    for (int64_t r = 0; r < c->rows; r++) {
        define_row(c, r, want, size);
        for (int64_t d = 0; d < c->D; d++) {
            double error = fabs(O[r * c->D + d] - want[d]) / size[d];
            if (!(error <= bound))
                fail_msg("%s: row %d, column %d: %a, not %a: off by %g, allowed %g", name, (int)r,
                         (int)d, O[r * c->D + d], want[d], error, bound);
            worst = fmax(worst, error);
        }
    }
    if (worst < bound / 100)
        fail_msg("%s: off by %g only: is a rounding missing?", name, worst);
    free(want);
}

static void xqa(const struct decode_case *c, float *O)
{
    oracle_xqa(c, &(struct xqa_options){0}, O);
}

static void paged(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){0}, O);
}

static void paged_8(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){.page = 8}, O);
}

static void paged_32(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){.page = 32}, O);
}

static void paged_v1(const struct decode_case *c, float *O)
{
    oracle_paged(c, &(struct paged_options){.partition = -1}, O);
}

static const struct judged {
    const char *name;
    void (*run)(const struct decode_case *, float *);
    enum oracle_type type;
    enum oracle_unit unit;
    int rows, keys, D, splits;
    uint64_t digest;
} judged[] = {
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM90, 4, 1000, 256, 1, 0xc80bfdf4c04133d9},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM90, 4, 1999, 256, 3, 0x8ee26aebfd3cc651},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM120, 16, 700, 256, 2, 0x0bddd8573f103b0e},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM90, 4, 1500, 128, 1, 0xc02d082163eddf03},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM120, 4, 1500, 128, 1, 0xce9f4c8b9178536b},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM90, 8, 2100, 128, 3, 0xc065ceb0ea92787d},
    {"xqa", xqa, ORACLE_BF16, ORACLE_SM120, 8, 2100, 128, 3, 0x0ed6ce5d427c9ffb},
    {"paged", paged, ORACLE_BF16, ORACLE_SM90, 3, 1100, 128, 0, 0x056a5e883fecac64},
    {"paged, 130 partitions", paged, ORACLE_BF16, ORACLE_SM90, 1, 66100, 16, 0, 0x63c59e4a6dbe1580},
    {"paged, pages of 8", paged_8, ORACLE_BF16, ORACLE_SM90, 2, 777, 64, 0, 0x7917cc8db7ba6819},
    {"paged, pages of 32", paged_32, ORACLE_BF16, ORACLE_SM90, 2, 1600, 256, 0, 0x917c17c0c933eefd},
    {"paged v1", paged_v1, ORACLE_BF16, ORACLE_SM90, 2, 1100, 128, 0, 0xf74e556b9c731222},
};

static struct decode_case case_of(const struct judged *j)
{
    return (struct decode_case){.type = j->type,
                                .unit = j->unit,
                                .rows = j->rows,
                                .keys = j->keys,
                                .D = j->D,
                                .splits = j->splits};
}

static void every_case(void **state)
{
    (void)state;
    int wrong = 0;
    for (int i = 0; i < COUNT(judged); i++) {
        struct decode_case c = case_of(&judged[i]);
        struct arrays a = draw_case(&c, 2, 2026 + (uint64_t)i);
        judged[i].run(&c, a.O);
        expect_near_definition(judged[i].name, &c, a.O, 0x1p-6);
        uint64_t got = digest(a.O, c.rows * c.D);
        wrong += got != judged[i].digest;
        if (got != judged[i].digest)
            print_error("case %d, %s: digest 0x%016llx, not 0x%016llx\n", i, judged[i].name,
                        (unsigned long long)got, (unsigned long long)judged[i].digest);
        free_arrays(&a);
    }
    assert_int_equal(wrong, 0);
}

/* The weight of a single token is 1, whatever the kernel. */
static void one_token(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(judged); i++) {
        struct decode_case c = case_of(&judged[i]);
        c.keys = 1;
        struct arrays a = draw_case(&c, 2, 7 + (uint64_t)i);
        judged[i].run(&c, a.O);
        for (int64_t r = 0; r < c.rows; r++)
            expect_equal(judged[i].name, a.O + r * c.D, a.v, c.D);
        free_arrays(&a);
    }
}

/* Groups without tokens weigh nothing; merging a single group gives that group. */
static void xqa_empty_groups(void **state)
{
    (void)state;
    static const struct {
        int64_t D, keys, splits, more;
        enum oracle_unit unit;
    } rows[] = {{256, 100, 1, 3, ORACLE_SM90},  {256, 300, 2, 5, ORACLE_SM90},
                {128, 300, 2, 5, ORACLE_SM90},  {128, 300, 2, 4, ORACLE_SM120},
                {128, 600, 3, 33, ORACLE_SM90}, {128, 20, 1, 2, ORACLE_SM120}};
    for (int i = 0; i < COUNT(rows); i++) {
        struct decode_case c = {.rows = 3,
                                .keys = rows[i].keys,
                                .D = rows[i].D,
                                .unit = rows[i].unit,
                                .splits = rows[i].splits};
        struct arrays a = draw_case(&c, 2, 40 + (uint64_t)i);
        float *more = calloc((size_t)(c.rows * c.D), sizeof *more);
        xqa(&c, a.O);
        c.splits = rows[i].more;
        xqa(&c, more);
        expect_equal("xqa, more groups than tiles", more, a.O, c.rows * c.D);
        free(more);
        free_arrays(&a);
    }
}

static float bf16(float x)
{
    return oracle_half(x, ORACLE_BF16);
}

/* Token t scores 1 for t < ones, then 0; the last one y.  Its value is 1, all others 0. */
static float xqa_last_weight(int64_t ones, int64_t keys, float y)
{
    struct decode_case c = {.rows = 1, .keys = keys, .D = 256, .splits = 1};
    c.unit = ORACLE_SM90;
    float *x = calloc((size_t)(2 * (keys + 1) * c.D), sizeof *x), O[256];
    float *q = x, *k = x + c.D, *v = k + keys * c.D;
    q[0] = 16;
    for (int64_t t = 0; t < keys; t++)
        k[t * c.D] = t < ones ? 1 : 0;
    k[(keys - 1) * c.D] = y;
    v[(keys - 1) * c.D] = 1;
    c.q = q, c.k = k, c.v = v;
    xqa(&c, O);
    free(x);
    return O[0];
}

/* A piece whose maximum lies below the running one has its weights rounded to bf16 again, by a
   rounded scale; not where slot x already held that maximum.  A piece that does not differ in its
   maximum leaves its slot as it was. */
static void xqa_weights_rounded_again(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t ones, keys;
        bool hinted;
    } rows[] = {{"first tile, second piece", 64, 128, false},
                {"second tile, first piece: slot 0 holds 1", 256, 320, true},
                {"second tile, second piece: slot 1 was never written", 320, 384, false}};
    int visible = 0;
    float s = oracle_exp_product(-1, true);
    for (int i = 0; i < 3 * 64; i++) {
        int row = i % 3;
        float y = bf16(-0.01f * (float)(i / 3 + 1)), bias = rows[row].hinted ? LOG2E : 0;
        float p = bf16(oracle_exp2(fmaf(y, LOG2E, -bias)));
        float others = rows[row].hinted ? bf16(oracle_exp2(-LOG2E)) : 1, l = 63 * others + p;
        if (!rows[row].hinted)
            l = l * s;
        float again = bf16(p * bf16(s)), inverse = oracle_reciprocal((float)rows[row].ones + l);
        float want = bf16((rows[row].hinted ? p : again) * inverse);
        visible += !rows[row].hinted && want != bf16(p * s * inverse);
        float got = xqa_last_weight(rows[row].ones, rows[row].keys, y);
        if (got != want)
            fail_msg("%s, score %a: %a, not %a", rows[row].name, y, got, want);
    }
    if (visible < 10)
        fail_msg("only %d of 128 cases show the second rounding", visible);
}

/* Pages in any physical order: the same bits.  Tokens past the end of the last page are not read
   for anything: they are NaN here. */
static void paged_block_table(void **state)
{
    (void)state;
    static const int pages[] = {8, 16, 32};
    for (int i = 0; i < COUNT(pages); i++) {
        struct decode_case c = {.rows = 2, .keys = 1203, .D = 64};
        struct arrays a = draw_case(&c, 2, 90 + (uint64_t)i);
        int64_t page = pages[i], count = (c.keys + page - 1) / page, row = c.D, table[151];
        size_t n = (size_t)(count * page * row);
        float *k = malloc(n * sizeof *k), *v = malloc(n * sizeof *v), O[2 * 64];
        for (size_t j = 0; j < n; j++)
            k[j] = v[j] = NAN;
        for (int64_t j = 0; j < count; j++)
            table[j] = (j * 7 + 3) % count; /* 7 divides none of the counts */
        for (int64_t t = 0; t < c.keys; t++) {
            int64_t at = table[t / page] * page + t % page;
            memcpy(k + at * row, c.k + t * row, (size_t)row * sizeof *k);
            memcpy(v + at * row, c.v + t * row, (size_t)row * sizeof *v);
        }
        oracle_paged(&c, &(struct paged_options){.page = pages[i]}, a.O);
        c.k = k, c.v = v;
        oracle_paged(&c, &(struct paged_options){.table = table, .page = pages[i]}, O);
        expect_equal("paged, permuted pages", O, a.O, 2 * 64);
        free(k);
        free(v);
        free_arrays(&a);
    }
}

/* Equal scores: every weight of a full partition is 1 / (512 + 1e-6) = 2^-9, each product exact and
   the sum of equal values v 512 times v 2^-9: the output is v. */
static void paged_equal_scores(void **state)
{
    (void)state;
    struct decode_case c = {.rows = 1, .keys = 1024, .D = 64};
    struct arrays a = draw_case(&c, 2, 5);
    memset(a.q, 0, 64 * sizeof *a.q);
    for (int64_t t = 1; t < c.keys; t++)
        memcpy(a.v + t * 64, a.v, 64 * sizeof *a.v);
    paged(&c, a.O);
    expect_equal("paged, equal scores", a.O, a.v, 64);
    free_arrays(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case),        cmocka_unit_test(one_token),
        cmocka_unit_test(xqa_empty_groups),  cmocka_unit_test(xqa_weights_rounded_again),
        cmocka_unit_test(paged_block_table), cmocka_unit_test(paged_equal_scores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
