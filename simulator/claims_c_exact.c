/* claims_c_exact.c: claims C14 and C15: what exact arithmetic says about right answers and grouping. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/certified.h"
#include "simulator/claims_parts.h"

void claim_c14(const struct claim_inputs *in, struct claim_outcome *out)
{
    enum { LINE = 60 };
    struct problem p = claim_problem(in, INPUT_C14_SCORES, INPUT_C14_VALUES);
    struct head h = problem_head(&p, 0);
    struct certified_row *row = certified_row_new(&h, 0);
    struct certified proof;
    certified_init(&proof);
    char *digits = certified_digits(row, 0, (int)claim_number(in, INPUT_C14_DIGITS, 0), &proof);
    bool exists = proof.kind == CERTIFIED_FINITE && proof.decided;
    out->verdict = exists ? VERDICT_PARTLY : VERDICT_HOLDS;
    snprintf(out->computed, sizeof out->computed, "%.10s...", digits);
    explain(out, "For given bits of Q, K, V one answer exists and is known to any digit.\n");
    explain(out, "x = [ %s ], v = [ %s ]:\n", in->text[INPUT_C14_SCORES],
            in->text[INPUT_C14_VALUES]);
    for (const char *at = digits; *at != 0; at += strlen(at) < LINE ? strlen(at) : LINE)
        explain(out, "  %.*s\n", LINE, at);
    if (exists)
        explain(out,
                "Every digit is proved; the weights had %ld bits.  By it two kernels that differ\n"
                "can be told apart: see flashulp run NAME --check.\n",
                (long)proof.precision);
    free(digits);
    certified_clear(&proof);
    certified_row_free(row);
    problem_free(&p);
}

/* Distinct values among x[0..count). */
static int distinct(const double *x, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++)
            seen = seen || x[i] == x[j];
        n += !seen;
    }
    return n;
}

/* -log2 of the largest relative difference between the first output and the others, in 256 bits;
   256 when all are the same. */
static int agreeing_bits(const struct problem *p, const double *tile, int tiles)
{
    int bits = 256;
    mpfr_t first, other;
    mpfr_inits2(256, first, other, (mpfr_ptr)NULL);
    for (int t = 0; t < tiles; t++) {
        struct simulation s = exact_run(ALGORITHM_FA2, (int)tile[t]);
        struct run r;
        struct message why;
        struct head h = problem_head(p, 0);
        if (!run_new(&r, s.arith, &s.policy, s.precision, &why))
            continue;
        struct attention x = simulate_head(&r, &s, &h);
        mpfr_srcptr O = ((const mpfr_t *)x.O->data)[0];
        if (t == 0)
            mpfr_set(first, O, MPFR_RNDN);
        mpfr_sub(other, O, first, MPFR_RNDN);
        if (!mpfr_zero_p(other)) {
            long apart = mpfr_get_exp(first) - mpfr_get_exp(other);
            bits = apart < bits ? (int)apart : bits;
        }
        run_free(&r);
    }
    mpfr_clears(first, other, (mpfr_ptr)NULL);
    return bits;
}

void claim_c15(const struct claim_inputs *in, struct claim_outcome *out)
{
    double tile[CLAIM_NUMBERS], exact[CLAIM_NUMBERS], bf16[CLAIM_NUMBERS], maxima[CLAIM_NUMBERS];
    int tiles = claim_numbers(in, INPUT_C15_TILES, tile, CLAIM_NUMBERS);
    struct problem p = drawn_problem((uint64_t)claim_number(in, INPUT_C15_SEED, 0), 1,
                                     (int)claim_number(in, INPUT_C15_KEYS, 0), 1);
    explain(out, "fa2 over %g keys: tile, its first maximum, results before the last rounding:\n",
            claim_number(in, INPUT_C15_KEYS, 0));
    for (int t = 0; t < tiles; t++) {
        struct simulation real = exact_run(ALGORITHM_FA2, (int)tile[t]);
        struct simulation gpu = policy_run(ALGORITHM_FA2, POLICY_GPU_BF16, (int)tile[t]);
        gpu.policy.site[SITE_OUT].format = FORMAT_FP32;
        struct result a = claim_run(&p, &real), b = claim_run(&p, &gpu);
        struct trace *trace = claim_trace(&p, &gpu);
        exact[t] = a.O[0];
        bf16[t] = b.O[0];
        maxima[t] = traced(trace, STEP_ROW_MAX, TENSOR_M, 0, 0);
        explain(out, "  %3.0f  %-10.6g exact %.15g   bf16 weights %.9g\n", tile[t], maxima[t],
                a.O[0], b.O[0]);
        trace_free(trace);
        result_free(&a);
        result_free(&b);
    }
    int bits = agreeing_bits(&p, tile, tiles), grid = distinct(bf16, tiles);
    out->verdict = verdict_of(distinct(exact, tiles) == 1 && bits >= 200 && grid > 1);
    snprintf(out->computed, sizeof out->computed, "2^-%d; %d of %d", bits, grid, tiles);
    explain(out,
            "In exact arithmetic (256 bits) the groupings agree to 2^-%d; with bf16 weights\n"
            "they give %d different results from %d different first maxima: every weight is\n"
            "rounded relative to the running maximum at its time.\n",
            bits, grid, distinct(maxima, tiles));
    problem_free(&p);
}
