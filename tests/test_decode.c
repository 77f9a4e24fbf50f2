/* test_decode.c: algorithm decode.  The teaching input's published bits, one row each: four kinds of
   merge, the first groups, what does and does not move the result; then random problems in every
   policy and arithmetic against the scalar oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/examples.h"
#include "simulator/scenario.h"
#include "simulator/trace.h"
#include "tests/oracle_groups.h"
#include "tests/random_problem.h"
#include "tests/small_problem.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* "flashulp run h200-b200 --algorithm decode WORDS": the float32 before it is stored, and bf16. */
struct published {
    const char *what, *words;
    uint32_t before;
    double stored;
};

static const struct published table[] = {
    {"FA2-like, H200", "--option backend=fa2 --splits 54", 0x3FA97D4F, 1.3203125},
    {"FA2-like, B200", "--option backend=fa2 --splits 62", 0x3FA98218, 1.328125},
    {"FA2-like, SM120", "--option backend=fa2 --splits 87", 0x3FA98301, 1.328125},
    {"by the device's rule, H200", "--device H200", 0x3FA97D4F, 1.3203125},
    {"by the device's rule, B200", "--device B200", 0x3FA98218, 1.328125},
    {"by the device's rule, SM120", "--device RTX-PRO-6000", 0x3FA98301, 1.328125},
    {"Triton's rule", "--device B200 --option backend=triton", 0x3FA983BA, 1.328125},
    {"XQA's rule, H200", "--device H200 --option backend=xqa", 0x3FA99989, 1.328125},
    {"XQA's rule, SM120", "--device RTX-PRO-6000 --option backend=xqa", 0x3FA97B8F, 1.3203125},
    {"the same by tokens, H200", "--group-tokens 512", 0x3FA97D4F, 1.3203125},
    {"the same by tokens, B200", "--group-tokens 448 --tile 1,448", 0x3FA98218, 1.328125},
    {"the same by tokens, SM120", "--group-tokens 320", 0x3FA98301, 1.328125},
    {"Triton-like, fp32 weights", "--option backend=triton --set PROB=fp32 --set PV_PRODUCT=fp32",
     0x3FA99BB8, 1.328125},
    {"Triton-like, bf16 weights", "--option backend=triton", 0x3FA983BA, 1.328125},
    {"XQA-like, H200", "--option backend=xqa --splits 33", 0x3FA99989, 1.328125},
    {"XQA-like, SM120", "--option backend=xqa --splits 47", 0x3FA97B8F, 1.3203125},
    {"TRT-LLM-like, fp32 weights", "--option backend=trtllm --set PROB=fp32 --set PV_PRODUCT=fp32",
     0x3FA9911C, 1.328125},
    {"TRT-LLM-like, bf16 weights", "--option backend=trtllm", 0x3FA97CB3, 1.3203125},
    {"divided once, H200", "--splits 54 --option merge=lse-sum", 0x3FA97D4F, 1.3203125},
    {"divided once, B200", "--splits 62 --option merge=lse-sum", 0x3FA98215, 1.328125},
    {"divided once, SM120", "--splits 87 --option merge=lse-sum", 0x3FA982FE, 1.328125},
    {"pairs of neighbours, H200",
     "--group-tokens 512 --tile 1,512 --order ROW_SUM=NEIGHBOURS --order OUT_ACC=NEIGHBOURS",
     0x3FA97D4F, 1.3203125},
    {"pairs of neighbours, B200",
     "--group-tokens 448 --tile 1,448 --order ROW_SUM=NEIGHBOURS --order OUT_ACC=NEIGHBOURS",
     0x3FA981F9, 1.328125},
    {"pairs of neighbours, SM120",
     "--group-tokens 320 --tile 1,320 --order ROW_SUM=NEIGHBOURS --order OUT_ACC=NEIGHBOURS",
     0x3FA982E1, 1.328125},
    {"by halves, B200",
     "--group-tokens 448 --tile 1,448 --order ROW_SUM=pairwise --order OUT_ACC=pairwise",
     0x3FA981F9, 1.328125},
    {"e^x as 2^(x log2 e), H200", "--splits 54 --special ex2", 0x3FA97D51, 1.3203125},
    {"e^x as 2^(x log2 e), B200", "--splits 62 --special ex2", 0x3FA9821A, 1.328125},
    {"e^x as 2^(x log2 e), SM120", "--splits 87 --special ex2", 0x3FA98302, 1.328125},
    {"running maximum, H200", "--splits 54 --option max=running --kv descending", 0x3FA97D2B,
     1.3203125},
    {"running maximum, B200", "--splits 62 --option max=running --kv descending", 0x3FA981DA,
     1.328125},
    {"running maximum, SM120", "--splits 87 --option max=running --kv descending", 0x3FA982CA,
     1.328125},
    {"Triton-like, running maximum", "--option backend=triton --option max=running", 0x3FA98A36,
     1.328125},
};

/* "(((0 1) (2 3)) 4)": neighbours in pairs, again and again; an odd one waits. */
static void neighbours(char *text, size_t room, int first, int count)
{
    int half = 1;
    size_t used = 0;
    if (count == 1) {
        snprintf(text, room, "%d", first);
        return;
    }
    while (2 * half < count)
        half *= 2;
    used += (size_t)snprintf(text, room, "(");
    neighbours(text + used, room - used, first, half);
    used += strlen(text + used);
    used += (size_t)snprintf(text + used, room - used, " ");
    neighbours(text + used, room - used, first + half, count - half);
    used += strlen(text + used);
    snprintf(text + used, room - used, ")");
}

/* The words, NEIGHBOURS replaced by a tree over the tile's terms. */
static struct scenario scenario_of(const char *verb, const char *words, const char *more)
{
    enum { MOST = 32, ROOM = 1 << 14 };
    static char text[2 * ROOM], trees[2][ROOM];
    char *argv[MOST];
    int argc = 0, trees_made = 0, width = 0;
    struct scenario s;
    struct message why;
    snprintf(text, sizeof text, "h200-b200 --algorithm decode %s %s", words, more);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        char *tree = strstr(word, "NEIGHBOURS");
        sscanf(word, "1,%d", &width);
        argv[argc++] = word;
        if (tree == NULL)
            continue;
        argv[argc - 1] = trees[trees_made++];
        int length = snprintf(argv[argc - 1], ROOM, "%.*stree:", (int)(tree - word), word);
        neighbours(argv[argc - 1] + length, (size_t)(ROOM - length), 0, width);
    }
    if (!scenario_parse(&s, verb, GROUP_PROBLEM | GROUP_SELECT | GROUP_RUN, argc, argv, &why))
        fail_msg("%s: %s", words, why.text);
    return s;
}

static double output_of(const char *words, const char *more)
{
    struct scenario s = scenario_of("run", words, more);
    struct scenario_input in;
    struct simulation simulation;
    struct result result;
    struct message why;
    if (!scenario_problem(&s, &in, &why) || !scenario_simulation(&s, &in, &simulation, &why) ||
        !simulate(&in.problem, &simulation, &result, &why))
        fail_msg("flashulp run h200-b200 --algorithm decode %s %s: %s", words, more, why.text);
    double O = result.O[0];
    for (int64_t d = 1; d < result.D; d++)
        assert_true(result.O[d] == O); /* all columns of V are equal */
    result_free(&result);
    scenario_input_free(&in);
    scenario_free(&s);
    return O;
}

static uint32_t bits_of(double x)
{
    return (uint32_t)format_encode(FORMAT_FP32, x);
}

static void published_bits(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(table); i++) {
        double before = output_of(table[i].words, "--set OUT=fp32");
        uint32_t got = bits_of(before);
        if (got != table[i].before)
            fail_msg("%s: flashulp run h200-b200 --algorithm decode %s --set OUT=fp32 gives "
                     "0x%08X, published 0x%08X",
                     table[i].what, table[i].words, (unsigned)got, (unsigned)table[i].before);
        double stored = i < 2 ? output_of(table[i].words, "")
                              : format_round(FORMAT_BF16, before, false);
        if (stored != table[i].stored)
            fail_msg("%s: %s is stored as %a, want %a", table[i].what, table[i].words, stored,
                     table[i].stored);
    }
}

/* A tensor core sums rounded weights: XQA's way takes its order, the others are told (refusals). */
static void sums_of_rounded_weights(void **unused)
{
    (void)unused;
    double O = output_of("--option backend=xqa --splits 33 --order ROW_SUM=mma@sm90", "--set OUT=fp32");
    assert_true(fabs(O - 1.32507072127) < 0x1p-8);
}

/* What the first group leaves, on the first group's tokens alone. */
static const struct first_group {
    int tokens;
    double maximum;
    uint32_t sum, weighted, output, lse;
} first_groups[] = {
    {512, 1.875, 0x4398BE4A, 0x43CAE65C, 0x3FAA0812, 0x40F319DB},
    {448, 1.750, 0x438CEA99, 0x43BC22EC, 0x3FAAE44F, 0x40EC85A5},
    {320, 1.500, 0x43609FE8, 0x4396131E, 0x3FAB0977, 0x40DD4304},
};

static double last_value(const struct trace *t, enum step step, enum tensor_name tensor)
{
    for (size_t n = trace_count(t); n-- > 0;) {
        const struct event *e = trace_event(t, n);
        if (e->step == step && e->tensor == tensor && e->split == 0)
            return trace_values(t, n)[0];
    }
    fail_msg("no event of step %d with tensor %d", step, tensor);
    return 0;
}

static void first_group_numbers(void **unused)
{
    (void)unused;
    struct problem p;
    struct message why;
    assert_true(example_problem(EXAMPLE_H200_B200, &p, &why));
    for (size_t i = 0; i < COUNT(first_groups); i++) {
        const struct first_group *row = &first_groups[i];
        struct simulation s = simulation_default();
        struct result result;
        s.algorithm = ALGORITHM_DECODE;
        s.policy = policy_table(POLICY_GPU_BF16);
        s.choices.grouping.splits = 1;
        s.trace = trace_new(TRACE_VALUES);
        p.Nk = row->tokens;
        assert_true(simulate(&p, &s, &result, &why));
        const struct trace *t = s.trace;
        double m = last_value(t, STEP_ROW_MAX, TENSOR_M), l = last_value(t, STEP_ROW_SUM, TENSOR_L_SUM);
        double sum = last_value(t, STEP_PV, TENSOR_O_ACC);
        double output = last_value(t, STEP_GROUP, TENSOR_GROUP_O);
        double lse = last_value(t, STEP_GROUP, TENSOR_GROUP_LSE);
        if (m != row->maximum || bits_of(l) != row->sum || bits_of(sum) != row->weighted ||
            bits_of(output) != row->output || bits_of(lse) != row->lse)
            fail_msg("first group of %d tokens: m %g l 0x%08X O~ 0x%08X O 0x%08X L 0x%08X",
                     row->tokens, m, bits_of(l), bits_of(sum), bits_of(output), bits_of(lse));
        trace_free(s.trace);
        result_free(&result);
    }
    problem_free(&p);
}

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 7, 3},  {1, 1, 1, 5, 5, 4},  {1, 1, 1, 4, 9, 2},
    {1, 1, 1, 9, 4, 5}, {1, 2, 1, 3, 13, 6}, {2, 4, 2, 2, 11, 3}, {1, 1, 1, 2, 29, 2},
};

static const struct mask masks[] = {
    {false, ALIGN_BOTTOM_RIGHT, -1, -1}, {true, ALIGN_BOTTOM_RIGHT, -1, -1},
    {true, ALIGN_TOP_LEFT, -1, -1},      {false, ALIGN_BOTTOM_RIGHT, 2, 1},
    {true, ALIGN_BOTTOM_RIGHT, 3, 0},
};

static struct simulation draw_simulation(enum policy_id policy, const struct arithmetic *arith,
                                         uint64_t *state)
{
    struct simulation s = simulation_default();
    int Bc = 1 + (int)draw_below(state, 5);
    s.algorithm = ALGORITHM_DECODE;
    s.policy = policy_table(policy);
    if (draw_below(state, 2)) { /* records narrower than what made them */
        s.policy.site[SITE_PARTIAL_STAT].format = FORMAT_FP16;
        s.policy.site[SITE_PARTIAL_OUT].format = FORMAT_BF16;
    }
    s.arith = arith;
    s.precision = 53;
    s.choices = (struct choices){.Bc = Bc, .descending = draw_below(state, 2),
                                 .merge = (enum merge)draw_below(state, MERGE_COUNT),
                                 .running_max = draw_below(state, 2),
                                 .sum_rounded = draw_below(state, 2)};
    s.choices.grouping.splits = (int)draw_below(state, 7);
    s.choices.grouping.round_robin = s.choices.grouping.splits > 0 && draw_below(state, 2);
    if (s.choices.grouping.splits == 0)
        s.choices.grouping.tokens = Bc * draw_below(state, 4);
    return s;
}

/* How many groups of how many tiles, by the words of the options. */
static struct oracle_groups groups_of(const struct choices *c, int64_t Nk)
{
    int64_t tiles = (Nk + c->Bc - 1) / c->Bc, per = c->grouping.tokens / c->Bc;
    struct oracle_groups g = {.merge = merge_name(c->merge), .running_max = c->running_max,
                              .sum_rounded = c->sum_rounded, .groups = c->grouping.splits};
    if (c->grouping.splits > 0)
        per = (tiles + c->grouping.splits - 1) / c->grouping.splits;
    g.tiles = c->grouping.round_robin ? 0 : per > 0 ? per : 1;
    if (g.groups == 0)
        g.groups = tiles > 0 ? (tiles + g.tiles - 1) / g.tiles : 1;
    return g;
}

static bool same_number(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

/* One head, flat, through the oracle. */
static void compare_head(const struct simulation *s, const struct head *h, const double *O,
                         const double *lse, const char *what)
{
    const struct problem *p = h->problem;
    int64_t D = h->D, numbers = (h->Nq + 2 * h->Nk) * D + (h->Nq + 1) * (D + 1);
    double *room = calloc((size_t)numbers + 1, sizeof *room);
    int64_t *lo = calloc(2 * (size_t)h->Nq + 1, sizeof *lo), *hi = lo + h->Nq;
    double *q = room, *k = q + h->Nq * D, *v = k + h->Nk * D, *want = v + h->Nk * D;
    for (int64_t r = 0; r < h->Nq; r++) {
        tensor_row(&p->q, h->batch, h->head, h->q0 + r, D, q + r * D);
        while (lo[r] < h->Nk && !sees(h, r, lo[r]))
            lo[r]++;
        for (hi[r] = lo[r]; hi[r] < h->Nk && sees(h, r, hi[r]);)
            hi[r]++;
    }
    for (int64_t c = 0; c < h->Nk; c++) {
        tensor_row(&p->k, h->batch, h->kv_head, h->k0 + c, D, k + c * D);
        tensor_row(&p->v, h->batch, h->kv_head, h->k0 + c, D, v + c * D);
    }
    struct oracle o = {.Nq = h->Nq, .Nk = h->Nk, .D = D, .q = q, .k = k, .v = v,
                       .scale_value = p->scale.value, .scale_root = p->scale.root,
                       .softcap = p->softcap, .lo = lo, .hi = hi};
    oracle_policy(&o, s->policy.name);
    for (int n = 0; n < SITE_COUNT; n++)
        o.site[n] = s->policy.site[n].format;
    o.tile = s->choices.Bc;
    o.descending = s->choices.descending;
    struct oracle_groups g = groups_of(&s->choices, h->Nk);
    oracle_grouped(&o, &g, want, want + h->Nq * D);
    for (int64_t i = 0; i < h->Nq * (D + 1); i++) {
        double got = i < h->Nq * D ? O[i] : lse[i - h->Nq * D];
        if (!same_number(got, want[i]))
            fail_msg("%s: %s %lld of head %lld is %a, oracle %a", what, i < h->Nq * D ? "O" : "L",
                     (long long)(i < h->Nq * D ? i : i - h->Nq * D), (long long)h->head, got,
                     want[i]);
    }
    free(room);
    free(lo);
}

static void one_case(enum policy_id policy, const struct arithmetic *arith, int n)
{
    uint64_t state = (uint64_t)n * 1000003u + (unsigned)policy;
    struct simulation s = draw_simulation(policy, arith, &state);
    struct problem_options options = problem_defaults();
    struct shape shape = shapes[draw_below(&state, COUNT(shapes))];
    struct problem p;
    struct result result;
    struct message why;
    char what[240];
    options.mask = masks[draw_below(&state, COUNT(masks))];
    options.softcap = draw_below(&state, 4) == 0 ? 1.5 : 0;
    const struct choices *c = &s.choices;
    snprintf(what, sizeof what,
             "case %d, %s %s: %lldx%lldx%lld, tile %d, %d groups%s or %lld tokens, merge %s%s%s%s", n,
             s.policy.name, arith->name, (long long)shape.Nq, (long long)shape.Nk, (long long)shape.D,
             c->Bc, c->grouping.splits, c->grouping.round_robin ? " dealt round" : "",
             (long long)c->grouping.tokens, merge_name(c->merge), c->running_max ? ", running" : "",
             c->sum_rounded ? ", rounded sums" : "", c->descending ? ", descending" : "");
    double size = draw_below(&state, 4) == 0 ? 6 : 1;
    if (!draw_problem(&p, s.policy.site[SITE_INPUT].format, shape, size, &options, &state) ||
        !simulate(&p, &s, &result, &why))
        fail_msg("%s: %s", what, why.text);
    int64_t row = 0;
    for (int64_t u = 0; u < result.units; u++) {
        struct head h = problem_head(&p, u);
        compare_head(&s, &h, result.O + row * p.D, result.lse + row, what);
        row += h.Nq;
    }
    result_free(&result);
    problem_free(&p);
}

static void equals_oracle(void **unused)
{
    (void)unused;
    const char *level = getenv("FLASHULP_TESTS");
    int rounds = level != NULL && strcmp(level, "full") == 0 ? 2000 : 120;
    for (int policy = 0; policy < POLICY_EXACT; policy++)
        for (int n = 0; n < rounds; n++) {
            one_case((enum policy_id)policy, arith_float(), n);
            if (n % 3 == 0)
                one_case((enum policy_id)policy, &arith_double, n);
            if (n % 6 == 0)
                one_case((enum policy_id)policy, &arith_mpfr, n);
        }
}

/* Two keys of score 2^100 in two groups: L = 2^100 + ln 2 is 2^100 in fp32, so weights relative to L
   are 1 and 1, and without a division nothing makes up for it. */
static void huge_scores(void **unused)
{
    (void)unused;
    for (int merge = 0; merge < MERGE_COUNT; merge++) {
        struct problem p;
        struct message why;
        struct result result;
        struct simulation s = simulation_default();
        assert_true(small_problem(&p, 1, 1, 2, "1", "0x1p100 0x1p100", "1 2"));
        s.algorithm = ALGORITHM_DECODE;
        s.choices.Bc = 1;
        s.choices.merge = (enum merge)merge;
        assert_true(simulate(&p, &s, &result, &why));
        double want = merge == MERGE_LSE ? 3 : 1.5;
        if (result.O[0] != want)
            fail_msg("merge %s: %g, want %g", merge_name(s.choices.merge), result.O[0], want);
        result_free(&result);
        problem_free(&p);
    }
}

/* "run h200-b200 --algorithm decode WORDS", and the sentence. */
static const struct {
    const char *words, *why;
} refusals[] = {
    {"--splits 0", "--splits 0: a whole number from 1 to 1048576 is right"},
    {"--splits 2 --group-tokens 2",
     "--splits and --group-tokens each say how the keys are cut; one is right"},
    {"--tile 2,2", "--tile 2,2: decode takes query rows one by one; --tile 1,2 is right"},
    {"--tile 1,2 --group-tokens 3", "--group-tokens 3: a multiple of the key tile, 2, is right"},
    {"--grouping dealt", "--grouping dealt: contiguous or round-robin is right"},
    {"--grouping round-robin",
     "round-robin groups take every n-th key tile: --splits N is right"},
    {"--option backend=xqa --group-tokens 512",
     "round-robin groups take every n-th key tile: --splits N is right, not --group-tokens"},
    {"--option merge=sum",
     "--option merge=sum: lse, lse-sum, max-sum, normalised-max-sum or running is right"},
    {"--option backend=fa3", "--option backend=fa3: fa2, triton, xqa or trtllm is right"},
    {"--option max=tile", "--option max=tile: group or running is right"},
    {"--option merge", "--option merge: NAME=VALUE is right, such as merge=lse"},
    {"--option pages=4",
     "--option pages: decode knows backend, merge, max and sum; flashulp list decode"},
    {"--splits 2 --order ROW_SUM=mma@sm90",
     "--order ROW_SUM=mma@sm90 multiplies bf16 or fp16, and EXP is fp32: --set EXP=bf16"},
    {"--device H200 --splits 54",
     "--device and --splits each say how the keys are cut; one is right"},
    {"--device H200 --option backend=trtllm",
     "--device: backend trtllm makes the same groups on every device"},
    {"--order COMBINE_SUM=tree:((0 1) 2)",
     "--order COMBINE_SUM: the tree has 3 terms, there are 431 groups: use --splits 3"},
};

static void refusals_in_words(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        char words[160], *argv[8] = {"h200-b200", "--algorithm", "decode"};
        int argc = 3;
        struct scenario s;
        struct scenario_input in;
        struct simulation simulation;
        struct result result;
        struct message why = {""};
        snprintf(words, sizeof words, "%s", refusals[i].words);
        argv[argc++] = strtok(words, " ");
        argv[argc++] = strtok(NULL, strstr(refusals[i].words, "tree") != NULL ? "" : " ");
        for (char *word = strtok(NULL, " "); word != NULL; word = strtok(NULL, " "))
            argv[argc++] = word;
        assert_true(scenario_parse(&s, "run", GROUP_PROBLEM | GROUP_RUN, argc, argv, &why));
        assert_true(scenario_problem(&s, &in, &why));
        if (scenario_simulation(&s, &in, &simulation, &why) &&
            simulate(&in.problem, &simulation, &result, &why))
            fail_msg("%s is not refused; expected: %s", refusals[i].words, refusals[i].why);
        assert_string_equal(why.text, refusals[i].why);
        scenario_input_free(&in);
        scenario_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_bits),
        cmocka_unit_test(sums_of_rounded_weights),
        cmocka_unit_test(first_group_numbers),
        cmocka_unit_test(equals_oracle),
        cmocka_unit_test(huge_scores),
        cmocka_unit_test(refusals_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
