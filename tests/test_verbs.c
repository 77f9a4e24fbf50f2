/* test_verbs.c: every verb, in the float and double arithmetics against MPFR, bit for bit.

   A case (verb_case.h) is a seed: from it come the verb's shapes, broadcasts, aliases, intervals,
   the site's and the product's formats, order, special functions and the operands.  The same call
   is performed in both arithmetics on the same operands, and dst, its intervals and every NaN must
   agree (one NaN equals another).  A failure prints its seed; FLASHULP_CASE=SEED runs that case
   alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/verb_case.h"

extern const struct arithmetic arith_float_base;

static const char *const verb_names[] = {
#define VERB(id, name, meaning) name,
#include "simulator/verbs.def"
#undef VERB
};

static struct tile *tile_of(struct run *r, const struct operand *o)
{
    struct tile *t = tile_new(r, TENSOR_SCRATCH, o->shape.rows, o->shape.cols);
    for (int i = 0; i < o->shape.rows * o->shape.cols; i++)
        r->arith->set(t->data, (size_t)i, o->values[i]);
    t->masked = o->masked;
    for (int row = 0; o->masked && row < o->shape.rows; row++) {
        t->lo[row] = o->lo[row];
        t->hi[row] = o->hi[row];
    }
    return t;
}

static struct tile *perform_case(const struct test_case *t, struct run *r)
{
    struct tile *a = tile_of(r, &t->a), *b = tile_of(r, &t->b), *c = tile_of(r, &t->c);
    struct tile *own = tile_of(r, &t->dst);
    if (t->written)
        a->wrote = b->wrote = SITE_INPUT;
    struct tile *dst = t->alias == 1 ? a : t->alias == 2 ? b : t->alias == 3 ? c : own;
    bool moves = t->verb == VERB_LOAD || t->verb == VERB_COPY || t->verb == VERB_FILL ||
                 t->verb == VERB_MAX || t->verb == VERB_ROW_MAX || t->verb == VERB_MASK ||
                 t->verb == VERB_MASK_FILL || t->verb == VERB_SELECT_BAD ||
                 t->verb == VERB_SAFE_SHIFT || t->verb == VERB_PUT || t->verb == VERB_TAKE;
    bool made = t->verb == VERB_LOAD || t->verb == VERB_FILL || t->verb == VERB_CONSTANT;
    struct call call = {.verb = t->verb, .dst = dst, .a = made ? NULL : a,
                        .b = t->has_b ? b : NULL, .c = t->has_c ? c : NULL,
                        .site = moves ? SITE_NONE
                                : t->verb == VERB_CONSTANT || t->verb == VERB_TIMES_REAL ? SITE_CONST
                                                                                         : SITE_OUT_ACC,
                        .arg_site = SITE_NONE, .visible = &t->visible, .real = t->real,
                        .row = t->row, .col = t->col};
    if (t->verb == VERB_EXP_SHIFT)
        call.arg_site = SITE_EXP_ARG;
    if (t->verb == VERB_MMA_AB || t->verb == VERB_MMA_ATB)
        call.arg_site = SITE_PV_PRODUCT;
    if (t->verb == VERB_FILL || t->verb == VERB_MASK_FILL)
        call.real = (struct real){t->real.factor, 1, REAL_PLAIN};
    if (t->verb == VERB_LOAD)
        call.source = (struct source){&t->tensor, 0, 1, t->visible.row0 % 40,
                                      (t->visible.col0 + t->visible.row0) % (dst->rows + 1)};
    /* the rows that hold data lie inside the tensor */
    if (t->verb == VERB_LOAD && call.source.row0 + call.source.count > 40)
        call.source.count = 40 - call.source.row0;
    r->perform(r, &call);
    return dst;
}

static bool same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* fp64 functions come from special_wide: within 2^-101 of the true value before their rounding, so
   where that lies this near a midpoint either neighbour is right. */
static bool near_enough(const struct test_case *t, double a, double b)
{
    bool wide = t->format == FORMAT_FP64 || t->format == FORMAT_EXACT;
    bool function = t->verb >= VERB_EXP_SHIFT && t->verb <= VERB_TANH;
    return wide && function && isfinite(a) && isfinite(b) &&
           llabs(format_steps(FORMAT_FP64, a, b)) <= 1;
}

enum part { ONE, ROW, COLUMN };

/* The element at (row, col), or the row or column it stands in. */
static void print_operand(const char *name, const struct operand *o, int row, int col,
                          enum part part)
{
    int r = o->shape.rows == 1 ? 0 : row, c = o->shape.cols == 1 ? 0 : col;
    int count = part == ROW ? o->shape.cols : part == COLUMN ? o->shape.rows : 1;
    print_message("  %s %dx%d:", name, o->shape.rows, o->shape.cols);
    for (int i = 0; i < count; i++) {
        int at_row = part == COLUMN ? i : r, at_col = part == ROW ? i : c;
        bool seen = !o->masked || (o->lo[at_row] <= at_col && at_col < o->hi[at_row]);
        print_message(seen ? " %a" : " (%a)", o->values[at_row * o->shape.cols + at_col]);
    }
    print_message("\n");
}

static void report(const struct test_case *t, const char *name, int row, int col, double got,
                   double want)
{
    const struct site_rule *rule = &t->policy.site[SITE_OUT_ACC];
    enum part part = is_row_verb(t->verb) || t->verb == VERB_MMA_ABT ? ROW : ONE;
    print_message("FLASHULP_CASE=%llu: %s in %s, format %s, argument or product %s, %s, %s%s, "
                  "scale 2^%d: element [%d,%d] is %a, want %a\n",
                  (unsigned long long)t->seed, verb_names[t->verb], name,
                  format_info(t->format)->name, format_info(t->arg)->name, order_text(&rule->order),
                  special_name(t->policy.special.how),
                  t->policy.saturate ? ", saturating" : "", rule->scale_log2, row, col, got, want);
    print_operand("dst", &t->dst, row, col, ONE);
    if (t->verb == VERB_MMA_ATB)
        print_operand("a", &t->a, 0, row, COLUMN);
    else
        print_operand("a", &t->a, row, col, t->verb == VERB_MMA_AB ? ROW : part);
    if (t->verb == VERB_MMA_AB || t->verb == VERB_MMA_ATB)
        print_operand("b", &t->b, 0, col, COLUMN);
    else if (t->has_b)
        print_operand("b", &t->b, t->verb == VERB_MMA_ABT ? col : row, col, part);
    if (t->has_c)
        print_operand("c", &t->c, row, col, ONE);
}

/* Do the two runs agree on the case? */
static bool agree(const struct test_case *t, const struct arithmetic *arith)
{
    struct run fast, judge;
    struct message why;
    if (!run_new(&fast, arith, &t->policy, 53, &why) ||
        !run_new(&judge, &arith_mpfr, &t->policy, 53, &why))
        fail_msg("%s", why.text);
    const struct tile *got = perform_case(t, &fast), *want = perform_case(t, &judge);
    bool good = got->masked == want->masked;
    for (int row = 0; good && got->masked && row < got->rows; row++) {
        bool empty = got->lo[row] >= got->hi[row] && want->lo[row] >= want->hi[row];
        good = empty || (got->lo[row] == want->lo[row] && got->hi[row] == want->hi[row]);
    }
    if (!good)
        print_message("FLASHULP_CASE=%llu: %s in %s: the intervals differ\n",
                      (unsigned long long)t->seed, verb_names[t->verb], arith->name);
    for (int i = 0; good && i < got->rows * got->cols; i++) {
        int row = i / got->cols, col = i % got->cols;
        double x = tile_get(&fast, got, row, col), y = tile_get(&judge, want, row, col);
        good = same_number(x, y) || near_enough(t, x, y);
        if (!good)
            report(t, arith->name, row, col, x, y);
    }
    run_free(&fast);
    run_free(&judge);
    return good;
}

/* A seed says its verb, format and arithmetic: seed = ((n * formats) + format) * verbs + verb. */
static bool run_case(const struct arithmetic *arith, bool wide, uint64_t seed)
{
    struct test_case t;
    enum verb verb = (enum verb)(seed % VERB_ROWS_EQUAL);
    enum format format = (enum format)(FORMAT_FP64 + seed / VERB_ROWS_EQUAL % (FORMAT_COUNT - 1));
    if (format == FORMAT_FP64 && !wide)
        return true;
    case_new(&t, verb, format, wide, seed);
    bool good = agree(&t, arith);
    case_free(&t);
    return good;
}

static int run_cases(const struct arithmetic *arith, bool wide)
{
    const char *one = getenv("FLASHULP_CASE"), *level = getenv("FLASHULP_TESTS");
    if (one != NULL)
        return !run_case(arith, wide, strtoull(one, NULL, 10));
    bool full = level != NULL && strcmp(level, "full") == 0;
    uint64_t kinds = (uint64_t)VERB_ROWS_EQUAL * (FORMAT_COUNT - 1), rounds = full ? 400 : 12;
    int failures[VERB_COUNT] = {0}, total = 0;
    for (uint64_t seed = 0; seed < kinds * rounds; seed++) {
        int verb = (int)(seed % VERB_ROWS_EQUAL);
        /* Two examples of a verb's failures say enough. */
        if (failures[verb] < 2)
            failures[verb] += !run_case(arith, wide, seed);
    }
    for (int v = 0; v < VERB_COUNT; v++)
        total += failures[v];
    return total;
}

static void test_float(void **state)
{
    (void)state;
    assert_int_equal(run_cases(arith_float(), false), 0);
}

static void test_float_baseline(void **state)
{
    (void)state;
    if (arith_float() == &arith_float_base)
        skip();
    assert_int_equal(run_cases(&arith_float_base, false), 0);
}

static void test_double(void **state)
{
    (void)state;
    assert_int_equal(run_cases(&arith_double, true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float),
        cmocka_unit_test(test_float_baseline),
        cmocka_unit_test(test_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
