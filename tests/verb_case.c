/* verb_case.c: random calls.  Operands are raw bits of every format, Gaussian, special, subnormal,
   cancelling, halfway between numbers of the site's format, or near its overflow. */
#include "tests/verb_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t random_bits(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static int random_below(uint64_t *seed, int n)
{
    return (int)(random_bits(seed) % (unsigned)n);
}

static double gaussian(uint64_t *seed)
{
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += ldexp((double)(random_bits(seed) >> 11), -53) - 0.5;
    return sum * sqrt(2.0);
}

static double random_pattern(uint64_t *seed, enum format f)
{
    uint64_t bits = random_bits(seed) >> (64 - format_info(f)->bits);
    return format_decode(f, f == FORMAT_TF32 ? bits & ~UINT64_C(0x1FFF) : bits);
}

enum kind { RAW, GAUSSIAN, SPECIALS, SUBNORMALS, CANCELLING, TIES, LARGE, KINDS };

/* One operand.  f: the site's format; wide: more bits than a float may hold. */
static double random_number(uint64_t *seed, enum kind kind, enum format f, bool wide)
{
    const struct format_info *info = format_info(f);
    int p = info->precision, sign = random_below(seed, 2) ? 1 : -1;
    static const double specials[] = {0, INFINITY, 1, 2, 0.5, 88.75, 104, 709.8, 3, 0x1p-126};
    enum format raw = (enum format)(FORMAT_FP32 + random_below(seed, FORMAT_COUNT - FORMAT_FP32));
    double x = gaussian(seed);
    switch (kind) {
    case RAW:
        if (wide && random_below(seed, 2))
            raw = FORMAT_FP64;
        return random_pattern(seed, raw);
    case SPECIALS: {
        int n = random_below(seed, (int)COUNT(specials) + 5);
        if (n < (int)COUNT(specials))
            return sign * specials[n];
        if (n == (int)COUNT(specials))
            return NAN;
        return sign * (n == (int)COUNT(specials) + 1 ? info->largest : ldexp(1, info->emin));
    }
    case SUBNORMALS: return format_round(f, ldexp(x, info->emin - random_below(seed, p)), false);
    case CANCELLING: return sign * (1 + ldexp(random_below(seed, 4), 1 - p));
    case TIES: return ldexp(sign * (2 * random_below(seed, 8) + 1), -random_below(seed, p + 3));
    case LARGE: return ldexp(x, info->emax - random_below(seed, 3));
    default: return random_below(seed, 3) ? format_round(f, x, false) : 20 * x;
    }
}

static void *must(void *memory)
{
    assert_non_null(memory);
    return memory;
}

static struct operand operand_new(struct test_case *t, uint64_t *seed, struct shape shape)
{
    int n = shape.rows * shape.cols;
    struct operand o = {.shape = shape};
    enum kind kind = (enum kind)random_below(seed, KINDS);
    bool mixed = random_below(seed, 4) == 0;
    o.values = must(malloc((size_t)(n + 1) * sizeof *o.values));
    for (int i = 0; i < n; i++) {
        enum kind k = mixed ? (enum kind)random_below(seed, KINDS) : kind;
        double x = random_number(seed, k, t->format, t->wide);
        o.values[i] = t->wide ? x : (double)(float)x;
    }
    o.lo = must(calloc((size_t)shape.rows, sizeof *o.lo));
    o.hi = must(calloc((size_t)shape.rows, sizeof *o.hi));
    return o;
}

static void operand_free(struct operand *o)
{
    free(o->values);
    free(o->lo);
    free(o->hi);
}

/* Full, empty and partial rows. */
static void give_intervals(struct operand *o, uint64_t *seed)
{
    o->masked = random_below(seed, 2);
    for (int row = 0; row < o->shape.rows; row++) {
        int lo = random_below(seed, o->shape.cols + 1), hi = random_below(seed, o->shape.cols + 1);
        int whole = random_below(seed, 4);
        o->lo[row] = whole == 0 ? 0 : lo < hi ? lo : hi;
        o->hi[row] = whole == 0 ? o->shape.cols : lo < hi ? hi : lo;
    }
}

static struct shape broadcast_of(struct shape s, uint64_t *seed)
{
    int mode = random_below(seed, 4);
    return (struct shape){mode & 1 ? 1 : s.rows, mode & 2 ? 1 : s.cols};
}

static int size_of(uint64_t *seed)
{
    static const int sizes[] = {1, 2, 3, 5, 8, 13, 16, 17, 35};
    return sizes[random_below(seed, (int)COUNT(sizes))];
}

bool is_sum(enum verb v)
{
    return v == VERB_MMA_ABT || v == VERB_MMA_AB || v == VERB_MMA_ATB || v == VERB_ROW_SUM ||
           v == VERB_ROW_SUM_RESCALED || v == VERB_ROW_DOT || v == VERB_FOLD;
}

bool is_row_verb(enum verb v)
{
    return v == VERB_ROW_MAX || v == VERB_ROW_SUM || v == VERB_ROW_SUM_RESCALED ||
           v == VERB_ROW_DOT || v == VERB_FOLD;
}

static bool takes_b(enum verb v)
{
    return v == VERB_ADD || v == VERB_SUB || v == VERB_MUL || v == VERB_FMA || v == VERB_DIV ||
           v == VERB_MAX || v == VERB_EXP_SHIFT || v == VERB_DIVIDE_ROWS || v == VERB_SELECT_BAD ||
           (is_sum(v) && v != VERB_FOLD && v != VERB_ROW_SUM);
}

/* Two shapes, the first around the second, and where. */
static void choose_block(struct test_case *t, struct shape *whole, struct shape *block,
                         uint64_t *seed)
{
    *block = (struct shape){1 + random_below(seed, whole->rows),
                            1 + random_below(seed, whole->cols)};
    t->row = random_below(seed, whole->rows - block->rows + 1);
    t->col = random_below(seed, whole->cols - block->cols + 1);
}

static void choose_shapes(struct test_case *t, uint64_t *seed)
{
    struct shape dst = {size_of(seed), size_of(seed)}, a = dst, b = dst, c = dst;
    int n = size_of(seed);
    bool row_verb = is_row_verb(t->verb);
    if (t->verb == VERB_MMA_ABT)
        a = (struct shape){dst.rows, n}, b = (struct shape){dst.cols, n};
    else if (t->verb == VERB_MMA_AB)
        a = (struct shape){dst.rows, n}, b = (struct shape){n, dst.cols};
    else if (t->verb == VERB_MMA_ATB)
        a = (struct shape){n, dst.rows}, b = (struct shape){n, dst.cols};
    else if (row_verb)
        dst.cols = 1;
    else
        b = broadcast_of(dst, seed), c = broadcast_of(dst, seed);
    if (t->verb == VERB_PUT)
        choose_block(t, &dst, &a, seed);
    if (t->verb == VERB_TAKE)
        choose_block(t, &a, &dst, seed);
    if (t->verb == VERB_ROW_SUM_RESCALED)
        b = (struct shape){a.rows, 1};
    if (t->verb == VERB_ROW_DOT)
        b = broadcast_of(a, seed);
    t->has_b = takes_b(t->verb);
    if (t->verb == VERB_ROW_SUM_RESCALED && random_below(seed, 3) == 0)
        t->has_b = false;
    t->has_c = t->verb == VERB_FMA || t->verb == VERB_SELECT_BAD;
    t->dst = operand_new(t, seed, dst);
    t->a = operand_new(t, seed, a);
    t->b = operand_new(t, seed, b);
    t->c = operand_new(t, seed, c);
    if (t->verb != VERB_MMA_ABT)
        give_intervals(&t->a, seed);
    if (!row_verb && !is_sum(t->verb) && t->verb != VERB_PUT && t->verb != VERB_TAKE)
        t->alias = random_below(seed, 4);
    bool fits_b = t->has_b && b.rows == dst.rows && b.cols == dst.cols && t->verb != VERB_EXP_SHIFT;
    bool fits_c = t->has_c && c.rows == dst.rows && c.cols == dst.cols;
    if ((t->alias == 2 && !fits_b) || (t->alias == 3 && !fits_c))
        t->alias = 0;
    if (t->verb == VERB_ROUND_AT || t->verb == VERB_MASK || t->verb == VERB_MASK_FILL)
        t->alias = 1;
}

/* A tree over 0 .. n-1 in random order, random groups. */
static void random_tree(uint64_t *seed, int n, char *text, size_t room)
{
    int order[64];
    for (int i = 0; i < n; i++) {
        int j = random_below(seed, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    int open = 1;
    size_t used = (size_t)snprintf(text, room, "tree:(");
    for (int i = 0; i < n; i++) {
        while (open < 5 && random_below(seed, 3) == 0) {
            used += (size_t)snprintf(text + used, room - used, "(");
            open++;
        }
        used += (size_t)snprintf(text + used, room - used, "%d ", order[i]);
        while (open > 1 && random_below(seed, 3) == 0) {
            used += (size_t)snprintf(text + used, room - used, ")");
            open--;
        }
    }
    while (open-- > 0)
        used += (size_t)snprintf(text + used, room - used, ")");
}

static void parse_order(struct test_case *t, const char *text)
{
    struct message why;
    if (!order_parse(text, &t->policy.site[SITE_OUT_ACC].order, &why))
        fail_msg("%s", why.text);
}

/* Sums along rows keep the lanes apart in half of the cases. */
static void choose_lanes(struct test_case *t, uint64_t *seed)
{
    static const char *const texts[] = {
        "lanes:quad:2,1", "lanes:quad:fused:1,2", "lanes:mod2:1", "lanes:mod2:fused:1",
        "lanes:mod16:8,4,2,1", "lanes:mod8:fused:4,2,1", "lanes:(1 0 3 0):fused:2,3",
        "lanes:(0 0 3 3 1):3,1",
    };
    parse_order(t, texts[random_below(seed, (int)COUNT(texts))]);
    bool apart = t->verb == VERB_ROW_SUM || t->verb == VERB_ROW_SUM_RESCALED;
    if (!apart || random_below(seed, 2))
        return;
    int lanes = order_columns(&t->policy.site[SITE_OUT_ACC].order);
    operand_free(&t->dst);
    t->dst = operand_new(t, seed, (struct shape){t->a.shape.rows, lanes});
}

/* A unit for the formats that there are; the operands become what it takes. */
static void choose_mma(struct test_case *t, uint64_t *seed)
{
    static const struct {
        const char *order;
        enum format factor;
    } rows[] = {
        {"mma@sm70", FORMAT_FP16}, {"mma@sm80", FORMAT_BF16}, {"mma@sm75", FORMAT_FP16},
        {"mma@sm90", FORMAT_BF16}, {"mma@sm90", FORMAT_FP16}, {"mma@sm80/tf32", FORMAT_FP32},
        {"mma@sm90/tf32", FORMAT_TF32}, {"mma@sm89/fp8", FORMAT_E4M3}, {"mma@sm90/fp8", FORMAT_E5M2},
        {"mma@sm100/fp8", FORMAT_E4M3}, {"mma@sm80,zeros=counted", FORMAT_BF16},
        {"mma@sm90,zeros=counted,minus-zero=lost", FORMAT_FP16}, {"mma@sm90,e-zero=-126", FORMAT_BF16},
        {"mma@sm90,minus-zero=lost,e-zero=-20", FORMAT_FP16},
    };
    int n = random_below(seed, (int)COUNT(rows));
    enum format f = rows[n].factor;
    bool exact = t->wide && random_below(seed, 3) == 0; /* factors of a counterfactual run */
    parse_order(t, rows[n].order);
    t->policy.site[SITE_INPUT].format = exact ? FORMAT_EXACT : f;
    t->written = true;
    for (int i = 0; i < t->a.shape.rows * t->a.shape.cols && !exact; i++)
        t->a.values[i] = format_round(f, t->a.values[i], false);
    for (int i = 0; i < t->b.shape.rows * t->b.shape.cols && !exact; i++)
        t->b.values[i] = format_round(f, t->b.values[i], false);
}

static void choose_order(struct test_case *t, uint64_t *seed)
{
    char text[1024];
    int n = t->verb == VERB_MMA_ATB ? t->a.shape.rows : t->a.shape.cols;
    bool unit = t->format == FORMAT_FP32 || t->format == FORMAT_FP16;
    switch (random_below(seed, unit ? 6 : 4)) {
    case 0: break;
    case 1: parse_order(t, "pairwise"); break;
    case 4:
    case 5: choose_mma(t, seed); break;
    case 2: choose_lanes(t, seed); break;
    default:
        random_tree(seed, n, text, sizeof text);
        parse_order(t, text);
    }
}

/* Rows and keys around the tile, so that intervals are full, empty and partial. */
static void choose_visible(struct test_case *t, uint64_t *seed)
{
    struct problem *p = &t->problem;
    *p = (struct problem){.B = 1, .Hq = 1, .Hkv = 1, .Nq = 50, .Nk = 60, .D = 1};
    p->mask = (struct mask){.causal = random_below(seed, 2), .left = random_below(seed, 20) - 1,
                            .right = random_below(seed, 20) - 1};
    t->head = (struct head){.problem = p, .Nq = p->Nq, .Nk = p->Nk, .D = 1};
    t->visible = (struct visible){.head = &t->head, .row0 = random_below(seed, 50),
                                  .col0 = random_below(seed, 60), .cols = t->dst.shape.cols};
    t->visible.count = random_below(seed, t->visible.cols + 1);
}

static void choose_policy(struct test_case *t, uint64_t *seed)
{
    struct policy *p = &t->policy;
    *p = policy_table(POLICY_FP32);
    p->site[SITE_OUT_ACC].format = p->site[SITE_CONST].format = t->format;
    bool product = t->verb == VERB_MMA_AB || t->verb == VERB_MMA_ATB;
    t->arg = product && random_below(seed, 2) ? FORMAT_EXACT
                                              : (enum format)(FORMAT_FP32 + random_below(seed, 7));
    if (t->wide && random_below(seed, 4) == 0)
        t->arg = FORMAT_FP64;
    p->site[SITE_PV_PRODUCT].format = product ? t->arg : FORMAT_EXACT;
    p->site[SITE_EXP_ARG].format = product ? FORMAT_FP32 : t->arg;
    p->special.how = (enum special)random_below(seed, SPECIAL_TABLE);
    p->saturate = random_below(seed, 2);
    p->max_ignores_nan = random_below(seed, 2);
    if (format_info(t->format)->bits == 8 && random_below(seed, 2))
        p->site[SITE_OUT_ACC].scale_log2 = 8;
}

static void choose_source(struct test_case *t, uint64_t *seed)
{
    static const enum format files[] = {FORMAT_FP32, FORMAT_FP16, FORMAT_BF16, FORMAT_E4M3,
                                        FORMAT_E5M2, FORMAT_FP64};
    struct message why;
    int64_t shape[4] = {1, 2, 40, t->dst.shape.cols};
    enum format f = files[random_below(seed, t->wide ? 6 : 5)];
    assert_true(tensor_new(&t->tensor, f, 4, shape, &why));
    for (int64_t head = 0; head < 2; head++)
        for (int64_t row = 0; row < shape[2]; row++)
            for (int64_t col = 0; col < shape[3]; col++)
                tensor_set(&t->tensor, 0, head, row, col,
                           random_pattern(seed, f));
}

void case_new(struct test_case *t, enum verb verb, enum format format, bool wide,
              uint64_t case_seed)
{
    uint64_t seed = case_seed;
    memset(t, 0, sizeof *t);
    t->seed = case_seed;
    t->verb = verb;
    t->format = format;
    t->wide = wide;
    choose_policy(t, &seed);
    choose_shapes(t, &seed);
    if (is_sum(verb))
        choose_order(t, &seed);
    choose_visible(t, &seed);
    if (verb == VERB_LOAD)
        choose_source(t, &seed);
    t->real = (struct real){(verb == VERB_CONSTANT || verb == VERB_TIMES_REAL) && random_below(&seed, 2) ? gaussian(&seed)
                                                                             : t->c.values[0],
                            1 + random_below(&seed, 200), random_below(&seed, 3)};
}

void case_free(struct test_case *t)
{
    operand_free(&t->dst);
    operand_free(&t->a);
    operand_free(&t->b);
    operand_free(&t->c);
    if (t->verb == VERB_LOAD)
        tensor_free(&t->tensor);
}
