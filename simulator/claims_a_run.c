/* claims_a_run.c: the claims of the FlashAttention-2 article that are answered by running the
   algorithms: the worked example (A3-A6), what is divided and kept (A7), exactness (A16), growth
   (A19). */
#include <math.h>
#include <stdio.h>

#include "reference/certified.h"
#include "simulator/claims_parts.h"

/* One number of a traced run against the article's. */
struct shown {
    const char *label;
    enum step step;
    enum tensor_name tensor;
    int tile, n;
};

/* Compares the numbers with the claim's figures in order; the texts are what a reader sees. */
static void compare_shown(const struct claim_inputs *in, enum claim_input scores,
                          enum claim_input values, enum claim_input figures,
                          const struct shown *shown, int count, struct claim_outcome *out)
{
    struct problem p = claim_problem(in, scores, values);
    struct simulation s = exact_run(ALGORITHM_FA2, 0);
    struct trace *t = claim_trace(&p, &s);
    int length = 0;
    out->verdict = VERDICT_HOLDS;
    explain(out, "fa2 in exact arithmetic on x = [ %s ], v = [ %s ]:\n", in->text[scores],
            in->text[values]);
    for (int i = 0; i < count; i++) {
        double x = traced(t, shown[i].step, shown[i].tensor, shown[i].tile, shown[i].n);
        enum verdict_word v = claim_figure(in, figures, i, x);
        length += snprintf(out->computed + length, sizeof out->computed - (size_t)length, "%s%.6g",
                           i == 0 ? "" : ", ", x);
        explain(out, "  %-22s %-18.12g published %-8g %s\n", shown[i].label, x,
                claim_number(in, figures, i), verdict_name(v));
        out->verdict = verdict_both(out->verdict, v);
    }
    explain(out, "Step by step: flashulp walk fa2-4\n");
    trace_free(t);
    problem_free(&p);
}

void claim_a3(const struct claim_inputs *in, struct claim_outcome *out)
{
    static const struct shown shown[] = {{"m = max(x)", STEP_ROW_MAX, TENSOR_M, 0, 0},
                                         {"e^(x - m), first", STEP_EXP, TENSOR_P, 0, 0},
                                         {"e^(x - m), second", STEP_EXP, TENSOR_P, 0, 1},
                                         {"l", STEP_ROW_SUM, TENSOR_L_SUM, 0, 0},
                                         {"O~", STEP_PV, TENSOR_O_ACC, 0, 0}};
    compare_shown(in, INPUT_A3_SCORES, INPUT_A3_VALUES, INPUT_A3_FIGURES, shown, 5, out);
}

void claim_a4(const struct claim_inputs *in, struct claim_outcome *out)
{
    static const struct shown shown[] = {{"m", STEP_ROW_MAX, TENSOR_M, 1, 0},
                                         {"a = e^(m_old - m)", STEP_RESCALE, TENSOR_DECAY, 1, 0},
                                         {"O~ = a O~", STEP_RESCALE, TENSOR_O_ACC, 1, 0},
                                         {"O~ + P V", STEP_PV, TENSOR_O_ACC, 1, 0},
                                         {"l", STEP_ROW_SUM, TENSOR_L_SUM, 1, 0}};
    compare_shown(in, INPUT_A4_SCORES, INPUT_A4_VALUES, INPUT_A4_FIGURES, shown, 5, out);
}

void claim_a5(const struct claim_inputs *in, struct claim_outcome *out)
{
    struct problem p = claim_problem(in, INPUT_A5_SCORES, INPUT_A5_VALUES);
    struct simulation tiled = exact_run(ALGORITHM_FA2, 0),
                      direct = exact_run(ALGORITHM_STANDARD, 0);
    struct result a = claim_run(&p, &tiled), b = claim_run(&p, &direct);
    struct trace *t = claim_trace(&p, &direct);
    out->verdict =
        verdict_both(claim_figure(in, INPUT_A5_FIGURE, 0, a.O[0]), verdict_of(a.O[0] == b.O[0]));
    snprintf(out->computed, sizeof out->computed, "%.7g, %s", a.O[0],
             a.O[0] == b.O[0] ? "the same" : "another");
    explain(out, "O = %.17g by tiles, %.17g from the weights.\n", a.O[0], b.O[0]);
    for (int64_t c = 0; c < p.Nk; c++) {
        double weight = traced(t, STEP_WEIGHT, TENSOR_P, 0, (int)c);
        enum verdict_word v = claim_figure(in, INPUT_A5_WEIGHTS, (int)c, weight);
        explain(out, "  weight %lld   %.9f   published %.3f   %s\n", (long long)c + 1, weight,
                claim_number(in, INPUT_A5_WEIGHTS, (int)c), verdict_name(v));
        out->verdict = verdict_both(out->verdict, v);
    }
    trace_free(t);
    result_free(&a);
    result_free(&b);
    problem_free(&p);
}

/* The reader has only the printed L: the weight is restored from that. */
void claim_a6(const struct claim_inputs *in, struct claim_outcome *out)
{
    struct problem p = claim_problem(in, INPUT_A6_SCORES, INPUT_A6_SCORES); /* L has no V */
    struct simulation s = exact_run(ALGORITHM_FA2, 0);
    struct result r = claim_run(&p, &s);
    double key = claim_number(in, INPUT_A6_KEY, 0), printed = claim_number(in, INPUT_A6_FIGURES, 0);
    double x = tensor_get(&p.k, 0, 0, (int64_t)key, 0), weight = claim_exp(x - printed);
    out->verdict = verdict_both(claim_figure(in, INPUT_A6_FIGURES, 0, r.lse[0]),
                                claim_figure(in, INPUT_A6_FIGURES, 1, weight));
    snprintf(out->computed, sizeof out->computed, "%.6g, %.5f", r.lse[0], weight);
    explain(out, "L = m + ln l = %.12g; e^(%g - %.3f) = %.6f.\n", r.lse[0], x, printed, weight);
    explain(out, "From L unrounded the weight is %.12g.\n", claim_exp(x - r.lse[0]));
    result_free(&r);
    problem_free(&p);
}

/* Statistics an algorithm keeps for every row: what one more row tile adds, and L if there is none. */
static int kept_per_row(enum algorithm a, int D)
{
    struct problem one = drawn_problem(1, 4, 4, D), two = drawn_problem(1, 8, 4, D);
    struct simulation s = policy_run(a, POLICY_FP32, 4);
    s.choices.Br = 4;
    int64_t more = claim_counts(&two, &s).kept - claim_counts(&one, &s).kept;
    problem_free(&one);
    problem_free(&two);
    return more > 0 ? (int)more : 1;
}

void claim_a7(const struct claim_inputs *in, struct claim_outcome *out)
{
    struct problem p = claim_problem(in, INPUT_A7_SCORES, INPUT_A7_SCORES);
    struct simulation fa1 = policy_run(ALGORITHM_FA1, POLICY_FP32, 0);
    struct simulation fa2 = policy_run(ALGORITHM_FA2, POLICY_FP32, 0);
    int tiles = p.tiles, kept[2] = {kept_per_row(ALGORITHM_FA1, 1), kept_per_row(ALGORITHM_FA2, 1)};
    double first = (double)claim_counts(&p, &fa1).divisions / tiles;
    double second = (double)claim_counts(&p, &fa2).divisions;
    problem_free(&p);
    enum verdict_word v = verdict_both(claim_figure(in, INPUT_A7_PER_BLOCK, 0, first),
                                       claim_figure(in, INPUT_A7_PER_BLOCK, 1, second));
    v = verdict_both(v, claim_figure(in, INPUT_A7_KEPT, 0, kept[0]));
    out->verdict = verdict_both(v, claim_figure(in, INPUT_A7_KEPT, 1, kept[1]));
    snprintf(out->computed, sizeof out->computed, "%g x %d, %g; %d, %d", first, tiles, second,
             kept[0], kept[1]);
    explain(out, "Counted over the calls of a run with %d key tiles: fa1 divides %g times a row,\n",
            tiles, first * tiles);
    explain(out, "fa2 %g.  Between key tiles fa1 keeps %d numbers for every row (m, l); fa2\n",
            second, kept[0]);
    explain(out, "keeps none past the row tile it works on and stores %d (L).\n", kept[1]);
}

/* How many outputs are the certified value, rounded to the run's output format. */
static int right_outputs(const struct problem *p, const struct simulation *s)
{
    struct result r = claim_run(p, s);
    struct head h = problem_head(p, 0);
    enum format f = s->policy.site[SITE_OUT].format;
    int right = 0;
    for (int64_t n = 0; n < h.Nq; n++) {
        struct certified_row *row = certified_row_new(&h, n);
        for (int64_t d = 0; d < h.D; d++)
            right += r.O[n * h.D + d] == certified_round(row, d, f, NULL);
        certified_row_free(row);
    }
    result_free(&r);
    return right;
}

void claim_a16(const struct claim_inputs *in, struct claim_outcome *out)
{
    static const enum algorithm all[] = {ALGORITHM_STANDARD, ALGORITHM_ONLINE, ALGORITHM_FA1,
                                         ALGORITHM_FA2};
    double size[4] = {0};
    claim_numbers(in, INPUT_A16_SHAPE, size, 4);
    struct problem p = drawn_problem((uint64_t)claim_number(in, INPUT_A16_SEED, 0), (int)size[0],
                                     (int)size[1], (int)size[2]);
    int outputs = (int)(size[0] * size[2]), wrong = 0, least = outputs, rounded = 0;
    explain(out, "%g queries, %g keys, d %g, key tile %g; outputs that are the certified value:\n",
            size[0], size[1], size[2], size[3]);
    for (int a = 0; a < 4; a++) {
        struct simulation exact = exact_run(all[a], (int)size[3]);
        struct simulation bf16 = policy_run(all[a], POLICY_GPU_BF16, (int)size[3]);
        int real = right_outputs(&p, &exact), finite = right_outputs(&p, &bf16);
        wrong += outputs - real;
        least = finite < least ? finite : least;
        rounded += outputs - finite;
        explain(out, "  %-9s exact arithmetic %d of %d, gpu-bf16 %d of %d\n",
                algorithm_info(all[a])->name, real, outputs, finite, outputs);
    }
    out->verdict = wrong > 0 ? VERDICT_FAILS : rounded > 0 ? VERDICT_EXACT_ONLY : VERDICT_HOLDS;
    snprintf(out->computed, sizeof out->computed, "real: %s; bf16 %d of %d",
             wrong == 0 ? "yes" : "no", least, outputs);
    explain(out, "Exact: the 256-bit result and the certified one are the same double; bf16: the\n"
                 "output is the certified value correctly rounded.\n");
    problem_free(&p);
}

/* What a run counts at N, 2N and 3N, as a polynomial c0 + c1 N + c2 N^2. */
struct growth {
    double c1, c2;
};

static struct growth growth_of(double N, const double count[3])
{
    double first = count[1] - count[0], second = count[2] - count[1];
    double c2 = (second - first) / (2 * N * N);
    return (struct growth){first / N - 3 * N * c2, c2};
}

static int degree(const struct growth *g)
{
    return g->c2 != 0 ? 2 : g->c1 != 0 ? 1 : 0;
}

void claim_a19(const struct claim_inputs *in, struct claim_outcome *out)
{
    double size[3] = {0}, flops[3], tiled[3], whole[3];
    claim_numbers(in, INPUT_A19_SHAPE, size, 3);
    int N = (int)size[0], D = (int)size[1];
    struct simulation fa2 = policy_run(ALGORITHM_FA2, POLICY_FP32, (int)size[2]);
    struct simulation standard = policy_run(ALGORITHM_STANDARD, POLICY_FP32, 0);
    fa2.choices.Br = (int)size[2];
    for (int i = 0; i < 3; i++) {
        struct problem p = drawn_problem(1, (i + 1) * N, (i + 1) * N, D);
        struct counts c = claim_counts(&p, &fa2);
        flops[i] = (double)c.flops;
        tiled[i] = (double)c.elements;
        whole[i] = (double)claim_counts(&p, &standard).elements;
        problem_free(&p);
    }
    struct growth f = growth_of(N, flops), t = growth_of(N, tiled), w = growth_of(N, whole);
    enum verdict_word v = verdict_both(claim_figure(in, INPUT_A19_DEGREES, 0, degree(&f)),
                                       claim_figure(in, INPUT_A19_DEGREES, 1, degree(&t)));
    out->verdict = verdict_both(v, claim_figure(in, INPUT_A19_DEGREES, 2, degree(&w)));
    snprintf(out->computed, sizeof out->computed, "%g N^2; %g N, %g N^2", f.c2,
             degree(&t) == 2 ? t.c2 : t.c1, w.c2);
    explain(out, "Counted over runs at N = %d, %d, %d, d %d, tiles of %g:\n", N, 2 * N, 3 * N, D,
            size[2]);
    explain(out, "  FLOPs of the products    %g N^2   (4 d N^2 is %g N^2)\n", f.c2, 4.0 * D);
    explain(out, "  numbers fa2 holds        %g N^2 + %g N beside its fixed tiles\n", t.c2, t.c1);
    explain(out, "  numbers standard holds   %g N^2 + %g N: the score and weight matrices\n", w.c2,
            w.c1);
}
