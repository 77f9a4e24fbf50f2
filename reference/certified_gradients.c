/* certified_gradients.c: see certified_gradients.h; enclosures: exact_gradients.h. */
#include "reference/certified_gradients.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/decimal.h"
#include "reference/dyadic.h"
#include "reference/exact_gradients.h"
#include "reference/certified_row.h"

enum { FIRST_BITS = 128 };

/* What is known of one query without an exponential. */
struct known_query {
    bool weights; /* all visible scores are equal: P = 1 / keys */
    bool still;   /* dS = 0 */
    bool slopes;  /* under softcap: the scores are 0, where its slope is 1 */
    bool finite;
    int64_t keys;
};

struct certified_gradients {
    const struct problem *problem;
    const struct tensor *dO;
    int64_t first, heads;
    struct head head; /* the first */
    struct exact_gradients exact;
    struct known_query *known; /* heads x Nq */
};

static void *must(void *memory)
{
    assert(memory != NULL);
    return memory;
}

static void at_precision(struct certified_gradients *g, mpfr_prec_t precision)
{
    if (g->exact.precision >= precision)
        return;
    if (g->exact.precision > 0)
        exact_gradients_free(&g->exact);
    exact_gradients_new(&g->exact, &g->head, g->heads, precision);
    for (int64_t n = 0; n < g->heads; n++) {
        struct head h = problem_head(g->problem, g->first + n);
        exact_gradients_add(&g->exact, &h, g->dO);
    }
}

/* The exact products of one query with a visible key: q.k and dO.v. */
static void products(const struct certified_gradients *g, const struct head *h, int64_t r, int64_t c,
                     mpfr_t qk, mpfr_t dOv)
{
    double *a = must(malloc(2 * (size_t)h->D * sizeof *a)), *b = a + h->D;
    tensor_row(&g->problem->q, h->batch, h->head, h->q0 + r, h->D, a);
    tensor_row(&g->problem->k, h->batch, h->kv_head, h->k0 + c, h->D, b);
    dot_exact(qk, a, b, h->D);
    tensor_row(g->dO, h->batch, h->head, h->q0 + r, h->D, a);
    tensor_row(&g->problem->v, h->batch, h->kv_head, h->k0 + c, h->D, b);
    dot_exact(dOv, a, b, h->D);
    free(a);
}

static struct known_query know(const struct certified_gradients *g, const struct head *h, int64_t r)
{
    struct known_query k = {true, true, true, true, 0};
    bool no_scale = g->problem->scale.value == 0;
    mpfr_t qk, dOv, first_qk, first_dOv;
    mpfr_inits2(64, qk, dOv, first_qk, first_dOv, (mpfr_ptr)0);
    for (int64_t c = 0; c < h->Nk; c++) {
        if (!sees(h, r, c))
            continue;
        products(g, h, r, c, qk, dOv);
        k.finite = k.finite && mpfr_number_p(qk) && mpfr_number_p(dOv);
        if (k.keys++ == 0) {
            mpfr_swap(qk, first_qk);
            mpfr_swap(dOv, first_dOv);
        } else {
            k.weights = k.weights && (no_scale || mpfr_equal_p(qk, first_qk));
            k.still = k.still && mpfr_equal_p(dOv, first_dOv);
        }
    }
    k.slopes = g->problem->softcap == 0 || no_scale || mpfr_zero_p(first_qk);
    mpfr_clears(qk, dOv, first_qk, first_dOv, (mpfr_ptr)0);
    return k;
}

struct certified_gradients *certified_gradients_new(const struct problem *p, int64_t group,
                                                    const struct tensor *dO)
{
    struct certified_gradients *g = must(calloc(1, sizeof *g));
    *g = (struct certified_gradients){.problem = p, .dO = dO, .heads = p->Hq / p->Hkv};
    g->first = group * g->heads;
    g->head = problem_head(p, g->first);
    g->known = must(calloc((size_t)(g->heads * g->head.Nq) + 1, sizeof *g->known));
    for (int64_t n = 0; n < g->heads; n++) {
        struct head h = problem_head(p, g->first + n);
        for (int64_t r = 0; r < h.Nq; r++)
            g->known[n * h.Nq + r] = know(g, &h, r);
    }
    return g;
}

void certified_gradients_free(struct certified_gradients *g)
{
    if (g == NULL)
        return;
    if (g->exact.precision > 0)
        exact_gradients_free(&g->exact);
    free(g->known);
    free(g);
}

/* sum += x y / n, x of the tensor, or plain y / n with t = NULL. */
static void add_share(mpq_t sum, mpq_srcptr y, double x, int64_t n)
{
    mpq_t term, share;
    mpq_inits(term, share, (mpq_ptr)0);
    mpq_set_d(term, x);
    mpq_set_ui(share, 1, (unsigned long)n);
    mpq_mul(term, term, share);
    mpq_mul(term, term, y);
    mpq_add(sum, sum, term);
    mpq_clears(term, share, (mpq_ptr)0);
}

/* dS of key c for a query of equal scores: (dP_c - mean dP) / n; `ds` without the 1 / n. */
static void deviation(const struct certified_gradients *g, const struct head *h, int64_t r, int64_t c,
                      int64_t keys, mpq_t ds)
{
    mpfr_t qk, dOv;
    mpq_t value, minus;
    mpfr_inits2(64, qk, dOv, (mpfr_ptr)0);
    mpq_inits(value, minus, (mpq_ptr)0);
    mpq_set_si(minus, -1, 1);
    mpq_set_ui(ds, 0, 1);
    for (int64_t j = 0; j < h->Nk; j++) {
        if (!sees(h, r, j))
            continue;
        products(g, h, r, j, qk, dOv);
        mpfr_get_q(value, dOv);
        if (j == c)
            mpq_add(ds, ds, value);
        mpq_mul(value, value, minus);
        add_share(ds, value, 1, keys);
    }
    mpfr_clears(qk, dOv, (mpfr_ptr)0);
    mpq_clears(value, minus, (mpq_ptr)0);
}

static bool rational_scale(const struct problem *p, mpq_t scale)
{
    long root = integer_root(p->scale.root);
    mpq_t divisor;
    if (root == 0 && p->scale.value != 0)
        return false;
    mpq_init(divisor);
    mpq_set_ui(divisor, root == 0 ? 1 : (unsigned long)root, 1);
    mpq_set_d(scale, p->scale.value);
    mpq_div(scale, scale, divisor);
    mpq_clear(divisor);
    return true;
}

/* One pair's part of an element, added to `sum`; false when it is not known to be rational. */
static bool add_pair(const struct certified_gradients *g, enum gradient which, const struct head *h,
                     const struct known_query *k, int64_t r, int64_t c, int64_t d, mpq_t sum)
{
    const struct problem *p = g->problem;
    double dO = tensor_get(g->dO, h->batch, h->head, h->q0 + r, d);
    double other = which == GRADIENT_V   ? dO
                   : which == GRADIENT_Q ? tensor_get(&p->k, h->batch, h->kv_head, h->k0 + c, d)
                                         : tensor_get(&p->q, h->batch, h->head, h->q0 + r, d);
    mpq_t factor, scale;
    if (!isfinite(other) || !k->finite)
        return false;
    if (other == 0 || (which != GRADIENT_V && k->still))
        return true;
    if (!k->weights || (which != GRADIENT_V && !k->slopes))
        return false;
    mpq_inits(factor, scale, (mpq_ptr)0);
    bool known = true;
    if (which == GRADIENT_V) {
        mpq_set_ui(factor, 1, 1);
    } else {
        deviation(g, h, r, c, k->keys, factor);
        known = mpq_sgn(factor) == 0 || rational_scale(p, scale);
        mpq_mul(factor, factor, scale);
    }
    add_share(sum, factor, other, k->keys);
    mpq_clears(factor, scale, (mpq_ptr)0);
    return known;
}

static bool rational(const struct certified_gradients *g, enum gradient which, int64_t head,
                     int64_t row, int64_t d, mpq_t sum)
{
    bool known = true;
    mpq_set_ui(sum, 0, 1);
    int64_t first = which == GRADIENT_Q ? head : 0;
    int64_t end = which == GRADIENT_Q ? head + 1 : g->heads;
    for (int64_t n = first; n < end && known; n++) {
        struct head h = problem_head(g->problem, g->first + n);
        int64_t from = which == GRADIENT_Q ? row : 0, to = which == GRADIENT_Q ? row + 1 : h.Nq;
        for (int64_t r = from; r < to && known; r++) {
            int64_t key = which == GRADIENT_Q ? 0 : row, behind = which == GRADIENT_Q ? h.Nk : row + 1;
            for (int64_t c = key; c < behind && known; c++)
                known = !sees(&h, r, c) ||
                        add_pair(g, which, &h, &g->known[n * h.Nq + r], r, c, d, sum);
        }
    }
    return known;
}

static mpfr_ptr element(const struct certified_gradients *g, enum gradient which, int64_t head,
                        int64_t row, int64_t d, mpfr_ptr *size)
{
    const struct exact_gradients *x = &g->exact;
    int64_t i = (head * x->Nq + row) * x->D + d;
    if (which != GRADIENT_Q)
        i = row * x->D + d;
    *size = which == GRADIENT_Q ? x->dQ_size[i] : which == GRADIENT_K ? x->dK_size[i] : x->dV_size[i];
    return which == GRADIENT_Q ? x->dQ[i] : which == GRADIENT_K ? x->dK[i] : x->dV[i];
}

/* low <= the value <= high, from gradients of at least `precision` bits. */
static void enclose(struct certified_gradients *g, enum gradient which, int64_t head, int64_t row,
                    int64_t d, mpfr_prec_t precision, struct certified *c)
{
    mpfr_ptr size, x;
    mpfr_t radius;
    at_precision(g, precision);
    x = element(g, which, head, row, d, &size);
    c->precision = g->exact.precision;
    mpfr_init2(radius, 64);
    mpfr_mul_2si(radius, size, 1 - c->precision, MPFR_RNDU); /* twice: `size` is rounded, too */
    mpfr_set_prec(c->low, mpfr_get_prec(x));
    mpfr_set_prec(c->high, mpfr_get_prec(x));
    mpfr_sub(c->low, x, radius, MPFR_RNDD);
    mpfr_add(c->high, x, radius, MPFR_RNDU);
    mpfr_clear(radius);
    c->kind = mpfr_nan_p(x)      ? CERTIFIED_NAN
              : !mpfr_inf_p(x)   ? CERTIFIED_FINITE
              : mpfr_sgn(x) > 0  ? CERTIFIED_PLUS_INF
                                 : CERTIFIED_MINUS_INF;
    if (c->kind != CERTIFIED_FINITE) {
        mpfr_set(c->low, x, MPFR_RNDN);
        mpfr_set(c->high, x, MPFR_RNDN);
    }
}

static void enclose_rational(const mpq_t x, struct certified *c)
{
    mpfr_set_prec(c->low, 4096);
    mpfr_set_prec(c->high, 4096);
    mpfr_set_q(c->low, x, MPFR_RNDD);
    mpfr_set_q(c->high, x, MPFR_RNDU);
    c->kind = CERTIFIED_FINITE;
    c->decided = c->rational = true;
    c->precision = 0;
}

double certified_gradient_round(struct certified_gradients *g, enum gradient which, int64_t head,
                                int64_t row, int64_t d, enum format f, struct certified *c)
{
    mpq_t value;
    double low = 0;
    mpq_init(value);
    c->rational = false;
    if (rational(g, which, head, row, d, value)) {
        enclose_rational(value, c);
        low = mpq_sgn(value) == 0 ? 0 : certified_round_real(c->low, f);
        c->decided = low == certified_round_real(c->high, f) || isnan(low);
    } else {
        mpfr_prec_t p = FIRST_BITS;
        do {
            enclose(g, which, head, row, d, p, c);
            low = certified_round_real(c->low, f);
            double high = certified_round_real(c->high, f);
            c->decided = c->kind != CERTIFIED_FINITE || low == high || (isnan(low) && isnan(high));
            p = 2 * c->precision;
        } while (!c->decided && p <= CERTIFIED_GRADIENT_BITS);
    }
    mpq_clear(value);
    return low;
}

static char *copied(const char *text)
{
    return strcpy(must(malloc(strlen(text) + 1)), text);
}

/* The digits of both ends, when they agree; else NULL. */
static char *agreed_digits(const struct certified *c, int digits)
{
    struct decimal low = decimal_of_real(c->low, digits), high = decimal_of_real(c->high, digits);
    char *text = decimal_equal(&low, &high) ? decimal_print(&low, digits) : NULL;
    decimal_free(&low);
    decimal_free(&high);
    return text;
}

char *certified_gradient_digits(struct certified_gradients *g, enum gradient which, int64_t head,
                                int64_t row, int64_t d, int digits, struct certified *c)
{
    static const char *const special[] = {"", "nan", "inf", "-inf"};
    mpq_t value;
    char *text = NULL;
    mpq_init(value);
    c->rational = false;
    if (rational(g, which, head, row, d, value)) {
        struct decimal x = decimal_of_rational(value, digits);
        enclose_rational(value, c);
        text = mpq_sgn(value) == 0 ? copied("0") : decimal_print(&x, digits);
        decimal_free(&x);
        mpq_clear(value);
        return text;
    }
    mpq_clear(value);
    for (mpfr_prec_t p = FIRST_BITS + 4 * (mpfr_prec_t)digits; text == NULL; p = 2 * c->precision) {
        enclose(g, which, head, row, d, p, c);
        text = c->kind != CERTIFIED_FINITE ? copied(special[c->kind]) : agreed_digits(c, digits);
        c->decided = text != NULL;
        if (!c->decided && 2 * c->precision > CERTIFIED_GRADIENT_BITS + 8 * digits)
            return copied("undecided");
    }
    return text;
}

void certified_gradient_value(struct certified_gradients *g, enum gradient which, int64_t head,
                              int64_t row, int64_t d, mpfr_t x)
{
    mpfr_ptr size;
    at_precision(g, FIRST_BITS);
    mpfr_set(x, element(g, which, head, row, d, &size), MPFR_RNDN);
}
