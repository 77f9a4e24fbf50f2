/* claims_c.c: the claims of the post on H200, B200 and an SM120 card that need no kernel model. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/certified.h"
#include "simulator/claims_parts.h"
#include "simulator/scenario_parts.h"

/* Exact in binary: no bit is lost at a precision of one bit. */
void claim_c1(const struct claim_inputs *in, struct claim_outcome *out)
{
    double d = claim_number(in, INPUT_C1_HEAD_SIZE, 0);
    mpfr_t wide, one_bit;
    mpfr_init2(wide, 256);
    mpfr_init2(one_bit, 2);
    mpfr_set_d(wide, d, MPFR_RNDN);
    int lost = mpfr_rec_sqrt(one_bit, wide, MPFR_RNDN);
    double scale = mpfr_get_d(one_bit, MPFR_RNDN);
    int power = scale > 0 ? ilogb(scale) : 0;
    bool exact = lost == 0 && scale == ldexp(1, power);
    mpfr_rec_sqrt(wide, wide, MPFR_RNDN);
    out->verdict = exact ? claim_figure(in, INPUT_C1_POWER, 0, power) : VERDICT_FAILS;
    if (exact)
        snprintf(out->computed, sizeof out->computed, "2^%d", power);
    else
        snprintf(out->computed, sizeof out->computed, "%.9g...", mpfr_get_d(wide, MPFR_RNDN));
    explain(out, "1/sqrt(%g) = %.17g: %s.\n", d, mpfr_get_d(wide, MPFR_RNDN),
            exact ? "a power of two, so scaling by it rounds nothing" : "no power of two");
    mpfr_clears(wide, one_bit, (mpfr_ptr)NULL);
}

void claim_c2(const struct claim_inputs *in, struct claim_outcome *out)
{
    double tokens = claim_number(in, INPUT_C2_TOKENS, 0),
           block = claim_number(in, INPUT_C2_BLOCK, 0);
    double blocks = ceil(tokens / block);
    out->verdict = claim_figure(in, INPUT_C2_BLOCKS, 0, blocks);
    snprintf(out->computed, sizeof out->computed, "%.0f", blocks);
    explain(out, "ceil(%.0f / %.0f) = %.0f; the last block holds %.0f tokens.\n", tokens, block,
            blocks, tokens - (blocks - 1) * block);
}

/* x rounded to bf16's 8 significant bits; the ranges asked about hold no subnormals. */
static double to_bf16(mpfr_ptr eight, mpfr_srcptr x)
{
    mpfr_set(eight, x, MPFR_RNDN);
    return mpfr_get_d(eight, MPFR_RNDN);
}

/* Over the bf16 numbers in [from, to]: where is bf16(e^(x-c)) not bf16(e^-c bf16(e^x))?  Apart from
   those nearer to 0 than `least`: there e^x is next to 1, and most bf16 numbers lie there. */
struct commuting {
    double from, to, least;
    int64_t numbers, differ; /* least <= |x| */
    int64_t all, all_differ;
    double first, left, right; /* the first that differs, and its two sides */
};

/* e^-c = factor; e, product and eight are workspace. */
static void commute_one(struct commuting *c, double x, mpfr_srcptr factor, mpfr_t e, mpfr_t product,
                        mpfr_t eight)
{
    mpfr_set_d(e, x, MPFR_RNDN);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_mul(product, factor, e, MPFR_RNDN);
    double left = to_bf16(eight, product);
    mpfr_set_d(e, to_bf16(eight, e), MPFR_RNDN);
    mpfr_mul(product, factor, e, MPFR_RNDN);
    double right = to_bf16(eight, product);
    bool counted = fabs(x) >= c->least;
    if (left != right && c->all_differ++ == 0) {
        c->first = x;
        c->left = left;
        c->right = right;
    }
    c->all++;
    c->numbers += counted;
    c->differ += counted && left != right;
}

static void count_commuting(struct commuting *c, mpfr_srcptr factor)
{
    mpfr_t e, product, eight;
    mpfr_inits2(128, e, product, (mpfr_ptr)NULL);
    mpfr_init2(eight, 8);
    for (uint64_t bits = 0; bits < 1u << 16; bits++) {
        double x = format_decode(FORMAT_BF16, bits);
        if (c->from <= x && x <= c->to)
            commute_one(c, x, factor, e, product, eight);
    }
    mpfr_clears(e, product, eight, (mpfr_ptr)NULL);
}

static double in_percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static struct commuting commuting_of(const struct claim_inputs *in)
{
    double range[3] = {0};
    claim_numbers(in, INPUT_C5_RANGE, range, 3);
    return (struct commuting){.from = range[0], .to = range[1], .least = range[2]};
}

void claim_c5(const struct claim_inputs *in, struct claim_outcome *out)
{
    double shift[CLAIM_NUMBERS], sum = 0;
    int shifts = claim_numbers(in, INPUT_C5_SHIFTS, shift, CLAIM_NUMBERS), differing = 0;
    struct commuting half = commuting_of(in);
    mpfr_t factor;
    mpfr_init2(factor, 128);
    explain(out, "bf16(e^(x-c)) against bf16(e^-c bf16(e^x)), every bf16 x from %g to %g:\n",
            half.from, half.to);
    for (int i = 0; i < shifts; i++) {
        struct commuting c = commuting_of(in);
        mpfr_set_d(factor, -shift[i], MPFR_RNDN);
        mpfr_exp(factor, factor, MPFR_RNDN);
        count_commuting(&c, factor);
        explain(out, "  c = %-5g differ: %5.2f %% of %" PRId64 "; %.4g: %.6g for %.6g\n", shift[i],
                in_percent(c.differ, c.numbers), c.numbers, c.first, c.right, c.left);
        differing += c.differ > 0;
        sum += in_percent(c.differ, c.numbers) / shifts;
    }
    mpfr_set_d(factor, 0.5, MPFR_RNDN);
    count_commuting(&half, factor);
    explain(out, "  c = ln 2  differ: %5.2f %%: e^-c is a power of two\n",
            in_percent(half.all_differ, half.all));
    explain(out,
            "Left out: the %" PRId64 " bf16 numbers nearer to 0 than %g, where e^x is next to\n"
            "1.  As real numbers the two sides are never equal for rational c but 0: a binary\n"
            "fraction times e^-c is transcendental, a rounded number is not.\n",
            half.all - half.numbers, half.least);
    out->verdict = verdict_of(shifts > 0 && differing == shifts && half.all_differ == 0);
    snprintf(out->computed, sizeof out->computed, "%.1f %% of x", sum);
    mpfr_clear(factor);
}

/* Is the printed decimal a float, as far as it is printed?  The nearest float must print as it. */
static bool prints_as(const struct claim_inputs *in, enum claim_input i, int n, double value)
{
    return claim_figure(in, i, n, value) != VERDICT_FAILS;
}

/* The boundary between two neighbouring bf16 numbers of the results. */
static double midpoint_of(const double *result, int count)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < count; i++) {
        low = fmin(low, result[i]);
        high = fmax(high, result[i]);
    }
    return format_steps(FORMAT_BF16, format_round(FORMAT_BF16, low, false),
                        format_round(FORMAT_BF16, high, false)) == 1
               ? (low + high) / 2
               : NAN;
}

static bool check_float(const struct claim_inputs *in, int n, double printed, double result,
                        double midpoint, struct claim_outcome *out)
{
    double value = format_round(FORMAT_FP32, printed, false);
    double stored = format_round(FORMAT_BF16, value, false);
    bool is_float = prints_as(in, INPUT_C7_FLOATS, n, value);
    bool side = (value > midpoint) == (result > midpoint);
    explain(out, "  %.10f  %s %08" PRIX64 "  midpoint%+.1e  bf16 %.8g  %s\n", printed,
            is_float ? "float" : "no float, near", format_encode(FORMAT_FP32, value),
            value - midpoint, stored, is_float && side && stored == result ? "ok" : "WRONG");
    return is_float && side && stored == result;
}

void claim_c7(const struct claim_inputs *in, struct claim_outcome *out)
{
    double value[3] = {0}, result[3] = {0}, maximum[3] = {0},
           exact = claim_number(in, INPUT_C7_EXACT, 0);
    int floats = claim_numbers(in, INPUT_C7_FLOATS, value, 3), ok = 0, grid = 0;
    claim_numbers(in, INPUT_C7_RESULTS, result, 3);
    claim_numbers(in, INPUT_C7_MAXIMA, maximum, 3);
    double midpoint = midpoint_of(result, 3), rounded = format_round(FORMAT_BF16, exact, false);
    explain(out, "Checked, not recomputed; between the two results lies %.10g:\n", midpoint);
    for (int i = 0; i < floats; i++)
        ok += check_float(in, i, value[i], result[i], midpoint, out);
    for (int i = 0; i < 3; i++)
        grid += maximum[i] == format_round(FORMAT_BF16, maximum[i], false);
    explain(out, "  first maxima %.3f %.3f %.3f: %d of 3 are bf16 numbers\n", maximum[0],
            maximum[1], maximum[2], grid);
    explain(out, "The published exact %.12f rounds to %.8g, so %.8g is the misrounded\n", exact,
            rounded, rounded == result[0] ? result[1] : result[0]);
    explain(out,
            "one on this input.  All err: %+.1e %+.1e %+.1e; among them they differ by %.1e.\n",
            value[0] - exact, value[1] - exact, value[2] - exact,
            fmax(value[0], fmax(value[1], value[2])) - fmin(value[0], fmin(value[1], value[2])));
    out->verdict = ok == 3 && grid == 3 ? VERDICT_NO_DATA : VERDICT_FAILS;
    snprintf(out->computed, sizeof out->computed, "checks: %d of 6; exact %.8g", ok + grid,
             rounded);
}

/* The sum of the terms by an order ("seq", "tree:..."), in fp32, by the simulator's row_sum. */
static double sum_by(const char *order, const double *term, int count)
{
    struct policy policy = policy_table(POLICY_FP32);
    struct run r;
    struct message why;
    char text[96];
    snprintf(text, sizeof text, "ROW_SUM=%s", order);
    if (!policy_order(&policy, text, &why) || !run_new(&r, arith_float(), &policy, 0, &why))
        return NAN;
    struct tile *a = tile_new(&r, TENSOR_P, 1, count), *sum = tile_new(&r, TENSOR_L_SUM, 1, 1);
    for (int i = 0; i < count; i++)
        r.arith->set(a->data, (size_t)i, term[i]);
    row_sum(&r, sum, a, SITE_ROW_SUM);
    double x = tile_get(&r, sum, 0, 0);
    run_free(&r);
    return x;
}

void claim_c11(const struct claim_inputs *in, struct claim_outcome *out)
{
    double term[CLAIM_NUMBERS];
    char tree[64];
    int count = claim_numbers(in, INPUT_C11_TERMS, term, CLAIM_NUMBERS);
    for (int i = 0; i < count; i++)
        term[i] = ldexp(1, (int)term[i]);
    snprintf(tree, sizeof tree, "tree:%s", in->text[INPUT_C11_TREE]);
    double chain = sum_by("seq", term, count), other = sum_by(tree, term, count);
    double step = format_next(FORMAT_FP32, term[0], 1) - term[0];
    bool half = 2 * term[count - 1] == step;
    out->verdict = verdict_of(half && chain != other);
    snprintf(out->computed, sizeof out->computed, "%08" PRIX64 ", %08" PRIX64,
             format_encode(FORMAT_FP32, chain), format_encode(FORMAT_FP32, other));
    explain(out, "The next float above %g is 2^%d away; 2^%d is %s of that.\n", term[0],
            ilogb(step), ilogb(term[count - 1]), half ? "half" : "not half");
    explain(out, "Summing %g, 2^%d, ... in sequence gives %.10g, by the tree %s %.10g.\n", term[0],
            ilogb(term[count - 1]), chain, in->text[INPUT_C11_TREE], other);
    explain(out, "1 + 2^-24 is a tie and goes to even, 1; 2^-24 + 2^-24 first is a whole step.\n");
}

void claim_c13(const struct claim_inputs *in, struct claim_outcome *out)
{
    int tokens = 0, least = 0, greatest = 0, decoded = 0, ranges = 0;
    for (int i = 0; i < in->range_count; i++) {
        const struct decode_range *r = &in->ranges[i];
        bool of_series = strcmp(r->series, in->text[INPUT_C13_SERIES]) == 0;
        tokens += r->tokens;
        least = i == 0 || r->depth < least ? r->depth : least;
        greatest = r->depth > greatest ? r->depth : greatest;
        decoded += of_series ? r->tokens : 0;
        ranges += of_series;
    }
    int n = in->range_count;
    double share = 100.0 * (decoded - ranges) / (decoded > 0 ? decoded : 1);
    double all = 100.0 * (tokens - n) / (tokens > 0 ? tokens : 1);
    double counts[4] = {n, tokens, least, greatest};
    out->verdict = claim_figure(in, INPUT_C13_FIGURE, 0, share);
    for (int i = 0; i < 4; i++)
        out->verdict = verdict_both(out->verdict, claim_figure(in, INPUT_C13_COUNTS, i, counts[i]));
    snprintf(out->computed, sizeof out->computed, "%d, %s, %.3f %%", n, grouped(tokens).text,
             share);
    explain(out, "%d messages, %s tokens, depths %s to %s.\n", n, grouped(tokens).text,
            grouped(least).text, grouped(greatest).text);
    explain(out, "%s: %s tokens in %d messages; if prefill gives the first token of each,\n",
            in->text[INPUT_C13_SERIES], grouped(decoded).text, ranges);
    explain(out, "(%d - %d) / %d = %.3f %% are one-token decode (all messages: %.3f %%).\n",
            decoded, ranges, decoded, share, all);
}
