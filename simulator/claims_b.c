/* claims_b.c: the claims of the blog on the online softmax, but for B3: B1, B2, B4, B5. */
#include <math.h>
#include <stdio.h>

#include "reference/certified.h"
#include "simulator/claims_parts.h"
#include "simulator/special.h"

enum { BITS = 256 };

/* Does the exact run end in the certified value?  Both as the nearest double, so equal in bits. */
static bool is_attention(const struct problem *p, enum algorithm a, int Bc, double *got)
{
    struct simulation s = exact_run(a, Bc);
    struct result r = claim_run(p, &s);
    struct head h = problem_head(p, 0);
    struct certified_row *row = certified_row_new(&h, 0);
    bool same = r.O[0] == certified_round(row, 0, FORMAT_FP64, NULL);
    *got = r.O[0];
    certified_row_free(row);
    result_free(&r);
    return same;
}

/* Drawn cases: 1 to 9 keys, key tiles of 1 to 4, whole scores and values. */
static void draw_cases(uint64_t seed, int cases, enum algorithm a, struct claim_outcome *out)
{
    enum { MOST = 9, TILE = 4 };
    int right = 0, tails = 0;
    double got = 0;
    for (int i = 0; i < cases; i++) {
        double x[MOST], v[MOST];
        int keys = 1 + (int)(claim_draw(&seed) % MOST), Bc = 1 + (int)(claim_draw(&seed) % TILE);
        for (int c = 0; c < keys; c++) {
            x[c] = (double)(claim_draw(&seed) % 13) - 6;
            v[c] = (double)(claim_draw(&seed) % 17) - 8;
        }
        struct problem p = scores_problem(x, v, keys);
        right += is_attention(&p, a, Bc, &got);
        tails += keys % Bc != 0;
        problem_free(&p);
    }
    out->verdict = verdict_of(right == cases);
    snprintf(out->computed, sizeof out->computed, "%d of %d", right, cases);
    explain(out, "%s, exact, is the certified result on %d of %d drawn inputs,\n",
            algorithm_info(a)->name, right, cases);
    explain(out, "%d of them with a ragged tail (the last gives %.15g).\n", tails, got);
}

void claim_b1(const struct claim_inputs *in, struct claim_outcome *out)
{
    draw_cases((uint64_t)claim_number(in, INPUT_B1_SEED, 0),
               (int)claim_number(in, INPUT_B1_CASES, 0), ALGORITHM_ONLINE, out);
    explain(out, "Why: if O = sum e^(x - m) v / l, l = sum e^(x - m) over the keys so far, then\n"
                 "  O' = (l e^(m - m') O + e^(x' - m') v') / l'\n"
                 "is the same statement one key on.\n");
}

void claim_b2(const struct claim_inputs *in, struct claim_outcome *out)
{
    draw_cases((uint64_t)claim_number(in, INPUT_B2_SEED, 0),
               (int)claim_number(in, INPUT_B2_CASES, 0), ALGORITHM_FA1_PRINTED, out);
}

/* The sums of attention (l, o: relative to m = 0) and of unstable (L, U: relative to each tile); of
   the tile added last e^m_t W_t and e^m_t Y_t in W and Y. */
struct tile_sums {
    mpfr_t W, Y, e, l, o, L, U;
};

static void add_tile(struct tile_sums *s, const struct problem *p, int64_t from, int64_t to)
{
    double m = -INFINITY;
    mpfr_set_zero(s->W, 1);
    mpfr_set_zero(s->Y, 1);
    for (int64_t c = from; c < to; c++)
        m = fmax(m, tensor_get(&p->k, 0, 0, c, 0));
    for (int64_t c = from; c < to; c++) {
        mpfr_set_d(s->e, tensor_get(&p->k, 0, 0, c, 0), MPFR_RNDN);
        mpfr_sub_d(s->e, s->e, m, MPFR_RNDN);
        mpfr_exp(s->e, s->e, MPFR_RNDN);
        mpfr_add(s->W, s->W, s->e, MPFR_RNDN);
        mpfr_mul_d(s->e, s->e, tensor_get(&p->v, 0, 0, c, 0), MPFR_RNDN);
        mpfr_add(s->Y, s->Y, s->e, MPFR_RNDN);
    }
    mpfr_add(s->L, s->L, s->W, MPFR_RNDN);
    mpfr_add(s->U, s->U, s->Y, MPFR_RNDN);
    mpfr_set_d(s->e, m, MPFR_RNDN);
    mpfr_exp(s->e, s->e, MPFR_RNDN);
    mpfr_mul(s->W, s->W, s->e, MPFR_RNDN);
    mpfr_mul(s->Y, s->Y, s->e, MPFR_RNDN);
    mpfr_add(s->l, s->l, s->W, MPFR_RNDN);
    mpfr_add(s->o, s->o, s->Y, MPFR_RNDN);
}

/* alpha_t = W_t / sum W, beta_t = e^m_t W_t / sum e^m_t W_t, y_t the tile's own attention; the
   error is sum (alpha_t - beta_t) y_t.  Returns what unstable and attention are by the formula. */
static void by_formula(const struct problem *p, double *unstable, double *attention, double *bound)
{
    struct tile_sums s;
    double low = INFINITY, high = -INFINITY, spread = 0, own[CLAIM_NUMBERS], shifted[CLAIM_NUMBERS];
    mpfr_inits2(BITS, s.W, s.Y, s.e, s.l, s.o, s.L, s.U, (mpfr_ptr)NULL);
    for (mpfr_ptr *x = (mpfr_ptr[]){s.l, s.o, s.L, s.U, NULL}; *x != NULL; x++)
        mpfr_set_zero(*x, 1);
    for (int t = 0; t < p->tiles && t < CLAIM_NUMBERS; t++) {
        double before = mpfr_get_d(s.L, MPFR_RNDN);
        add_tile(&s, p, t == 0 ? 0 : p->tile_ends[t - 1], p->tile_ends[t]);
        own[t] = mpfr_get_d(s.L, MPFR_RNDN) - before;
        shifted[t] = mpfr_get_d(s.W, MPFR_RNDN);
        mpfr_div(s.e, s.Y, s.W, MPFR_RNDN);
        double y = mpfr_get_d(s.e, MPFR_RNDN);
        low = fmin(low, y);
        high = fmax(high, y);
    }
    for (int t = 0; t < p->tiles && t < CLAIM_NUMBERS; t++)
        spread +=
            fabs(own[t] / mpfr_get_d(s.L, MPFR_RNDN) - shifted[t] / mpfr_get_d(s.l, MPFR_RNDN));
    *bound = spread / 2 * (high - low);
    mpfr_div(s.U, s.U, s.L, MPFR_RNDN);
    mpfr_div(s.o, s.o, s.l, MPFR_RNDN);
    *unstable = mpfr_get_d(s.U, MPFR_RNDN);
    *attention = mpfr_get_d(s.o, MPFR_RNDN);
    mpfr_clears(s.W, s.Y, s.e, s.l, s.o, s.L, s.U, (mpfr_ptr)NULL);
}

struct compared {
    double run, attention; /* what unstable gives, what attention is */
    double formula, bound; /* the error by the formula, and what it is at most */
    bool agrees; /* the formula's two sides are the run and the certified value, in bits */
};

static struct compared compare_unstable(const struct problem *p)
{
    struct compared c;
    struct simulation s = exact_run(ALGORITHM_UNSTABLE, 0), right = exact_run(ALGORITHM_FA2, 0);
    struct result r = claim_run(p, &s), want = claim_run(p, &right);
    double unstable, attention;
    by_formula(p, &unstable, &attention, &c.bound);
    c.run = r.O[0];
    c.attention = want.O[0];
    c.formula = unstable - attention;
    c.agrees = unstable == c.run && attention == c.attention;
    result_free(&r);
    result_free(&want);
    return c;
}

void claim_b4(const struct claim_inputs *in, struct claim_outcome *out)
{
    struct problem p = claim_problem(in, INPUT_B4_SCORES, INPUT_B4_VALUES);
    struct problem e = claim_problem(in, INPUT_B4_EQUAL, INPUT_B4_EQUAL_VALUES);
    struct compared c = compare_unstable(&p), equal = compare_unstable(&e);
    out->verdict = verdict_of(c.run != c.attention && c.agrees && equal.run == equal.attention);
    snprintf(out->computed, sizeof out->computed, "%.4g for %.4g", c.run, c.attention);
    explain(out, "x = [ %s ], v = [ %s ]: %.10g for %.10g.\n", in->text[INPUT_B4_SCORES],
            in->text[INPUT_B4_VALUES], c.run, c.attention);
    explain(out,
            "  error = sum_t (alpha_t - beta_t) y_t = %.10g\n"
            "  |error| <= 1/2 sum |alpha_t - beta_t| (max y - min y) = %.10g\n",
            c.formula, c.bound);
    explain(out,
            "y_t is the attention inside tile t, alpha_t its share of sum W_t, beta_t of\n"
            "sum e^(m_t) W_t, W_t = sum e^(x - m_t).  The formula and the run are %s in\n"
            "bits.  Equal maxima suffice for every V: x = [ %s ] gives %.10g for\n%.10g.\n",
            c.agrees ? "equal" : "not equal", in->text[INPUT_B4_EQUAL], equal.run, equal.attention);
    explain(out, "It also agrees with one tile, with all y_t equal, or where the two weighted\n"
                 "means happen to be equal.\n");
    problem_free(&p);
    problem_free(&e);
}

/* sum e^(x - m) v / sum e^(x - m), to the nearest double. */
static double shifted_mean(const double *x, const double *v, int keys, double m)
{
    mpfr_t e, l, o;
    mpfr_inits2(BITS, e, l, o, (mpfr_ptr)NULL);
    mpfr_set_zero(l, 1);
    mpfr_set_zero(o, 1);
    for (int c = 0; c < keys; c++) {
        mpfr_set_d(e, x[c], MPFR_RNDN);
        mpfr_sub_d(e, e, m, MPFR_RNDN);
        mpfr_exp(e, e, MPFR_RNDN);
        mpfr_add(l, l, e, MPFR_RNDN);
        mpfr_mul_d(e, e, v[c], MPFR_RNDN);
        mpfr_add(o, o, e, MPFR_RNDN);
    }
    mpfr_div(o, o, l, MPFR_RNDN);
    double mean = mpfr_get_d(o, MPFR_RNDN);
    mpfr_clears(e, l, o, (mpfr_ptr)NULL);
    return mean;
}

/* The smallest whole x whose e^x is no float. */
static int first_overflow(void)
{
    for (int n = 0;; n++) {
        float x = (float)n, y;
        special_cr(FUNCTION_EXP, FORMAT_FP32, false, &y, &x, 1);
        if (isinf(y))
            return n;
    }
}

void claim_b5(const struct claim_inputs *in, struct claim_outcome *out)
{
    double x[CLAIM_NUMBERS], v[CLAIM_NUMBERS], shift[CLAIM_NUMBERS], largest = -INFINITY;
    int keys = claim_numbers(in, INPUT_B5_SCORES, x, CLAIM_NUMBERS), same = 0;
    int shifts = claim_numbers(in, INPUT_B5_SHIFTS, shift, CLAIM_NUMBERS);
    claim_numbers(in, INPUT_B5_VALUES, v, CLAIM_NUMBERS);
    struct problem p = scores_problem(x, v, keys);
    struct head h = problem_head(&p, 0);
    struct certified_row *row = certified_row_new(&h, 0);
    double want = certified_round(row, 0, FORMAT_FP64, NULL);
    int over = first_overflow();
    for (int c = 0; c < keys; c++)
        largest = fmax(largest, x[c]);
    explain(out, "sum e^(x - m) v / sum e^(x - m): e^(-m) cancels.  As the nearest doubles:\n");
    for (int i = 0; i < shifts; i++) {
        double mean = shifted_mean(x, v, keys, shift[i]);
        same += mean == want;
        explain(out, "  m = %-6g %.17g\n", shift[i], mean);
    }
    out->verdict = verdict_of(shifts > 0 && same == shifts);
    snprintf(out->computed, sizeof out->computed, "%d m: %.6g; e^%d", shifts, want, over);
    explain(out,
            "In fp32 e^%d overflows and infinity / infinity is no number; with m the largest\n"
            "score, %g here, every weight is at most 1.\n",
            over, largest);
    certified_row_free(row);
    problem_free(&p);
}
