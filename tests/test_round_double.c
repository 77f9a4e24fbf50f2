/* test_round_double.c: the double arithmetic's narrow sites round once: operations on 53-bit
   numbers whose exact results lie on, or next to, a midpoint of the site's format, against MPFR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/arith.h"
#include "tests/oracle_attention.h"
#include "tests/random_problem.h"

static const enum format targets[] = {FORMAT_FP32, FORMAT_FP32_FTZ, FORMAT_TF32, FORMAT_FP16,
                                      FORMAT_BF16, FORMAT_E4M3,     FORMAT_E5M2};
enum { TARGETS = sizeof targets / sizeof *targets, WIDTH = 64 };

struct operands {
    double a[WIDTH], b[WIDTH], c[WIDTH];
};

/* 53 random bits, 1 <= |x| < 2, times a power of two. */
static double draw_double(uint64_t *state, int exponent)
{
    double x = ldexp(1 + ldexp((double)(draw(state) >> 12), -52), exponent);
    return draw(state) & 1 ? -x : x;
}

/* A number of f or a midpoint of two, subnormal ones too, its exponent at most half the range so
   that operands fit. */
static double draw_midpoint(enum format f, uint64_t *state)
{
    const struct format_info *info = format_info(f);
    int e = info->emin - info->precision + (int)draw_below(state, info->emax - info->emin);
    double x = format_round(f, draw_double(state, e), false);
    return x + format_ulp(f, x) / 2 * (double)draw_below(state, 2);
}

/* Operands whose product, quotient, sum or fused step is a midpoint to 53 bits, or a little off. */
static void draw_operands(struct operands *o, enum verb verb, enum format f, uint64_t *state)
{
    for (int i = 0; i < WIDTH; i++) {
        double target = draw_midpoint(f, state);
        double x = draw_double(state, (int)draw_below(state, 9) - 4);
        o->a[i] = x;
        o->c[i] = 0;
        switch (verb) {
        case VERB_MUL:
            o->b[i] = target / x;
            break;
        case VERB_DIV:
            o->b[i] = x;
            o->a[i] = target * x;
            break;
        case VERB_FMA:
            o->b[i] = draw_below(state, 2) ? target / x : ldexp(target, -60) / x;
            o->c[i] = target - o->a[i] * o->b[i];
            break;
        default:
            o->a[i] = target;
            o->b[i] = ldexp(target, -30 - (int)draw_below(state, 90)) * x;
        }
    }
}

static struct tile *row(struct run *r, const double *x)
{
    struct tile *t = tile_new(r, TENSOR_SCRATCH, 1, WIDTH);
    for (int i = 0; i < WIDTH; i++)
        r->arith->set(t->data, (size_t)i, x[i]);
    return t;
}

static void perform(struct run *r, enum verb verb, struct tile *dst, const struct operands *o)
{
    struct tile *a = row(r, o->a), *b = row(r, o->b), *c = row(r, o->c);
    switch (verb) {
    case VERB_ADD:
        add(r, dst, a, b, SITE_SCORE);
        break;
    case VERB_SUB:
        sub(r, dst, a, b, SITE_SCORE);
        break;
    case VERB_MUL:
        mul(r, dst, a, b, SITE_SCORE);
        break;
    case VERB_DIV:
        div_(r, dst, a, b, SITE_SCORE);
        break;
    default:
        fma_(r, dst, a, b, c, SITE_SCORE);
    }
}

static const struct verb_row {
    enum verb verb;
    enum oracle_operation operation;
    const char *name;
} verb_rows[] = {
    {VERB_ADD, ORACLE_ADD, "add"}, {VERB_SUB, ORACLE_SUB, "sub"}, {VERB_MUL, ORACLE_MUL, "mul"},
    {VERB_DIV, ORACLE_DIV, "div"}, {VERB_FMA, ORACLE_FMA, "fma"},
};

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void check_operands(const struct verb_row *v, enum format f, const struct operands *o)
{
    struct policy policy = policy_table(POLICY_FP32);
    struct message why;
    struct run r;
    policy.site[SITE_SCORE].format = f;
    assert_true(run_new(&r, &arith_double, &policy, 0, &why));
    struct tile *dst = tile_new(&r, TENSOR_SCRATCH, 1, WIDTH);
    perform(&r, v->verb, dst, o);
    for (int i = 0; i < WIDTH; i++) {
        double got = tile_get(&r, dst, 0, i);
        double want = oracle_rounded(f, false, v->operation, o->a[i], o->b[i], o->c[i]);
        if (!same(got, want))
            fail_msg("%s in %s of %a, %a, %a: %a, MPFR %a", v->name, format_info(f)->name, o->a[i],
                     o->b[i], o->c[i], got, want);
    }
    run_free(&r);
}

static void one_rounding(void **unused)
{
    (void)unused;
    const char *level = getenv("FLASHULP_TESTS");
    int cases = level != NULL && strcmp(level, "full") == 0 ? 4000 : 100;
    uint64_t state = 31;
    for (size_t v = 0; v < sizeof verb_rows / sizeof *verb_rows; v++)
        for (int i = 0; i < TARGETS; i++)
            for (int n = 0; n < cases; n++) {
                struct operands o;
                draw_operands(&o, verb_rows[v].verb, targets[i], &state);
                check_operands(&verb_rows[v], targets[i], &o);
            }
}

/* Results below every double: zeros, not numbers stepped to odd from zero. */
static void underflow(void **unused)
{
    (void)unused;
    static const double x[] = {0x1p-1000, -0x1p-1000, 0x1p-1074, 0x1p-1074, -0x1p-1074};
    static const double y[] = {0x1p1000, 0x1p1000, 3, -3, -0x1.8p900};
    for (int i = 0; i < TARGETS; i++) {
        struct operands quotients = {{0}, {0}, {0}}, products = quotients;
        for (int n = 0; n < WIDTH; n++) {
            quotients.a[n] = x[n % 5];
            quotients.b[n] = y[n % 5];
            products.a[n] = x[n % 5];
            products.b[n] = x[n / 5 % 5];
        }
        check_operands(&verb_rows[3], targets[i], &quotients);
        check_operands(&verb_rows[2], targets[i], &products);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rounding),
        cmocka_unit_test(underflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
