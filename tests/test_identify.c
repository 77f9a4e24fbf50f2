/* test_identify.c: outputs with something planted in them are recognised, a hundred of them drawn
   from seeds that were fixed beforehand (planted.def); what turns one run's bits into another's; a
   flipped bit is explained by nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/measured.h"
#include "tests/planted.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- the hundred ---- */

/* Does this run have the planted change?  Its base may be any that gives the same bits. */
static bool is_plant(const struct identity *i, const struct plant *plant)
{
    const char *change = plant->change[0] != 0 ? plant->change : plant->run;
    const char *at = strstr(i->name, change);
    bool counts = strncmp(change, "splits=", 7) == 0 && strstr(i->name, "+splits=") != NULL;
    return counts || (at != NULL && (at[strlen(change)] == 0 || at[strlen(change)] == '+'));
}

/* The class of a change or, without one, of a base. */
static enum change_class class_of(const char *text)
{
    for (int n = 0; change_info(n) != NULL; n++)
        if (strcmp(change_info(n)->text, text) == 0)
            return change_info(n)->class;
    for (int n = 0; base_info(n) != NULL; n++)
        if (strcmp(base_info(n)->text, text) == 0)
            return base_info(n)->class;
    return strncmp(text, "splits=", 7) == 0 ? CHANGE_SCHEDULE : CHANGE_ARITHMETIC;
}

/* What became of a plant: found as what it is, alone or among runs with the same bits; a plain run
   has the same bits; taken for another change; not found; it changed no bit. */
enum { ALONE, AMONG, PLAIN, OTHER, LOST, NO_BIT, FATES };

static int fate_of(const struct identification *found, const struct plant *plant)
{
    bool others = found->others > 0, among = false;
    if (!found->found)
        return LOST;
    for (int n = 0; n < found->count; n++) {
        bool exact = found->best[n].left == 0, own = is_plant(&found->best[n], plant);
        among = among || (exact && own);
        others = others || (exact && !own);
    }
    if (among)
        return others ? AMONG : ALONE;
    return found->best[0].changes == 0 ? PLAIN : OTHER;
}

/* Stored in `f`.  `as`: a line about it. */
static int seek(const struct plant *plant, enum format f, char **as)
{
    struct bench b;
    struct problem p;
    struct message why;
    struct identification found;
    int fate = NO_BIT;
    char *name = NULL;
    text_append(&name, "%s%s%s", plant->run, plant->change[0] ? "+" : "", plant->change);
    draw_kind(&p, plant->kind, plant->seed);
    bench_new(&b, &p, 2);
    bench_measure(&b, name, f);
    bench_measure(&b, plant->change[0] != 0 ? plant->run : "fa2", f);
    bench_judge(&b);
    if (audit_pair(&b.audit, 0, 1).differ > 0) {
        struct identify_space *space = identify_space_new(&b.audit, &why);
        if (!identify(space, 0, &found, NULL, &why))
            fail_msg("%s: %s", name, why.text);
        fate = fate_of(&found, plant);
        text_append(as, "%d %s in %s: %s, %s, %d alike, %lld tried", (int)plant->seed, name,
                    format_info(f)->name, audit_verdict_name(found.verdict),
                    found.count > 0 ? found.best[0].name : "", found.count + found.others,
                    (long long)found.tried);
        identification_free(&found);
        identify_space_free(space);
    }
    free(name);
    bench_free(&b);
    return fate;
}

static void print_confusion(int count[][FATES], const char *const *rows, int classes)
{
    printf("# note %-20s %6s %6s %6s %6s %6s %6s\n", "planted", "alone", "among", "plain", "other",
           "lost", "no bit");
    for (int c = 0; c < classes; c++)
        printf("# note %-20s %6d %6d %6d %6d %6d %6d\n", rows[c], count[c][ALONE], count[c][AMONG],
               count[c][PLAIN], count[c][OTHER], count[c][LOST], count[c][NO_BIT]);
}

/* Where bf16 hides a plant, the same is looked for in outputs of fp32.  FLASHULP_PLANT=N: one. */
static void planted_differences_are_found(void **unused)
{
    (void)unused;
    enum { PART = 17, CLASSES = 4 };
    static const enum format formats[] = {FORMAT_BF16, FORMAT_FP32};
    static const char *const rows[] = {"schedule, bf16", "arithmetic, bf16", "input, bf16",
                                       "bug, bf16",      "schedule, fp32",   "arithmetic, fp32",
                                       "input, fp32",    "bug, fp32"};
    const char *tests = getenv("FLASHULP_TESTS"), *only = getenv("FLASHULP_PLANT");
    bool full = tests != NULL && strcmp(tests, "full") == 0;
    int count[2 * CLASSES][FATES] = {{0}}, bad = 0;
    for (size_t i = 0; i < COUNT(plants); i += full || only != NULL ? 1 : PART) {
        const struct plant *plant = &plants[i];
        int fate = NO_BIT, class = (int)class_of(plant->change[0] ? plant->change : plant->run);
        if (only != NULL && (uint64_t)atoi(only) != plant->seed)
            continue;
        for (size_t f = 0; f < COUNT(formats) && fate == NO_BIT; f++) {
            char *as = NULL;
            fate = seek(plant, formats[f], &as);
            count[f * CLASSES + class][fate]++;
            bad += fate == OTHER || fate == LOST;
            if ((fate >= PLAIN && fate < NO_BIT) || only != NULL)
                printf("# plant %s\n", as != NULL ? as : "no bit changed");
            free(as);
        }
    }
    print_confusion(count, rows, 2 * CLASSES);
    assert_int_equal(bad, 0);
}

/* ---- named cases ---- */

static void fill_tensor(struct tensor *t, const double *x)
{
    for (int64_t i = 0; i < tensor_elements(t); i++) {
        int64_t row = i / t->shape[3], head = row / t->shape[2];
        tensor_set(t, head / t->shape[1], head % t->shape[1], row % t->shape[2], i % t->shape[3],
                   x[i]);
    }
}

/* One head; q, k, v repeat their last number. */
static const struct bug_case {
    const char *name;
    struct shape shape;
    bool causal;
    double scale, q, k[5], v[5];
    const char *measured; /* in bf16 */
} cases[] = {
    {"M1", {1, 1, 1, 1, 2, 128}, false, 0, -64, {64, 64}, {1, 1}, "0"},
    {"M8", {1, 1, 1, 1, 1, 16}, false, 0.25, 133120, {133120}, {133120}, "nan"},
    {"A1", {1, 1, 1, 2, 5, 1}, true, 1, 0, {0, 0, 0, 0, 0}, {1, 2, 3, 4, 5}, "1 1.5"},
    {"A1", {1, 1, 1, 5, 2, 1}, true, 1, 0, {0, 0}, {1, 2}, "1 1.5 1.5 1.5 1.5"},
    {"A6", {1, 1, 1, 1, 65, 1}, false, 1, 1, {-5, -5, -5, -5, -5}, {1, 1, 1, 1, 1}, "0.0069039"},
    {"S9", {2, 1, 1, 1, 2, 1}, false, 1, 0, {0, 0, 0, 0}, {1, 1, 3, 3}, "1 nan"},
};

static void case_problem(const struct bug_case *c, struct problem *p)
{
    struct problem_options o = problem_defaults();
    struct shape s = c->shape;
    uint64_t state = 1;
    o.mask.causal = c->causal;
    o.scale_given = c->scale != 0;
    o.scale = c->scale;
    assert_true(draw_problem(p, FORMAT_BF16, s, 0, &o, &state));
    double *q = calloc((size_t)(s.B * s.Nq * s.D), sizeof *q);
    double *k = calloc((size_t)(s.B * s.Nk * s.D), sizeof *k);
    double *v = calloc((size_t)(s.B * s.Nk * s.D), sizeof *v);
    assert_true(q != NULL && k != NULL && v != NULL);
    for (int64_t i = 0; i < s.B * s.Nq * s.D; i++)
        q[i] = c->q;
    for (int64_t i = 0; i < s.B * s.Nk * s.D; i++) {
        int64_t row = i / s.D < 4 ? i / s.D : 4;
        k[i] = c->k[row];
        v[i] = c->v[row];
    }
    fill_tensor(&p->q, q);
    fill_tensor(&p->k, k);
    fill_tensor(&p->v, v);
    free(q);
    free(k);
    free(v);
}

/* Outputs written as numbers, as if they had been measured. */
static void bench_outputs(struct bench *b, const char *text)
{
    const struct problem *p = &b->audit.in.problem;
    int64_t rows = p->B * p->Hq * p->Nq;
    double *x = calloc((size_t)(rows * p->D), sizeof *x);
    assert_non_null(x);
    for (int64_t row = 0; row < rows; row++) {
        char *end;
        double number = strtod(text, &end);
        text = end == text ? text : end; /* the last number stays */
        for (int64_t d = 0; d < p->D; d++)
            x[row * p->D + d] = format_round(FORMAT_BF16, number, false);
    }
    bench_measured(b, "o.x", FORMAT_BF16, x);
}

static void recognised(const char *name, struct problem *p, const char *measured,
                       enum format inputs)
{
    struct bench b;
    struct identification found;
    struct message why;
    bench_new(&b, p, 2);
    b.audit.in.input_format = inputs;
    bench_outputs(&b, measured);
    bench_judge(&b);
    struct identify_space *space = identify_space_new(&b.audit, &why);
    if (!identify(space, 0, &found, NULL, &why))
        fail_msg("case %s: %s", name, why.text);
    bool named = found.bug != NULL && strcmp(found.bug->bug_case, name) == 0;
    for (int n = 0; n < found.count; n++) /* L1, of one key a group, is powers of 2 for e, too */
        for (int k = 0; k < found.best[n].changes && found.best[n].left == 0; k++)
            named = named ||
                    strcmp(identify_change(space, found.best[n].change[k])->bug_case, name) == 0;
    if (found.verdict != AUDIT_BUG || !named)
        fail_msg("case %s: %s, %s, case %s", name, audit_verdict_name(found.verdict),
                 found.count > 0 ? found.best[0].name : "",
                 found.bug != NULL ? found.bug->bug_case : "");
    identification_free(&found);
    identify_space_free(space);
    bench_free(&b);
}

static void named_cases_are_recognised(void **unused)
{
    (void)unused;
    static const char *const merged[] = {"0.72330", "0.88080"}; /* L1: for 0.8 */
    struct problem p;
    struct message why;
    int64_t changed;
    for (size_t i = 0; i < COUNT(cases); i++) {
        case_problem(&cases[i], &p);
        recognised(cases[i].name, &p, cases[i].measured, FORMAT_BF16);
    }
    for (size_t i = 0; i < COUNT(merged); i++) {
        assert_true(problem_from_scores(&p, "0.69314718 | 2.0794415", "0 | 1", &why));
        assert_true(problem_round_input(&p, FORMAT_FP32, &changed, &why));
        recognised("L1", &p, merged[i], FORMAT_FP32);
    }
}

/* ---- pairs ---- */

static const struct pair {
    enum kind kind;
    const char *x, *y;
    enum audit_verdict verdict;
    const char *change; /* among those named, or NULL */
    int most;           /* changes, the base's included */
} pairs[] = {
    {KIND_DECODE, "fa2-split@H200+splits=2", "fa2-split@H200+splits=3", AUDIT_SCHEDULE,
     "splits=", 2},
    {KIND_PLAIN, "fa2", "fa2+set=PROB=fp32", AUDIT_KERNEL, "set=PROB=fp32", 1},
    {KIND_PLAIN, "fa2@H200+alter=sum-rounded", "fa2@H200", AUDIT_KERNEL, "alter=sum-rounded", 1},
    {KIND_PLAIN, "fa2", "fa2+alter=kv-e4m3", AUDIT_INPUTS, "alter=kv-e4m3", 1},
    {KIND_CAUSAL, "fa2@H200+alter=last-key", "fa2@H200", AUDIT_BUG, "alter=last-key", 1},
    {KIND_ODD, "fa2+kv=descending", "fa2", AUDIT_SCHEDULE, NULL, 1},
    {KIND_PLAIN, "fa2", "fa2+set=PROB=fp32+alter=kv-e4m3", AUDIT_INPUTS, "alter=kv-e4m3", 2},
    {KIND_DECODE, "xqa@H200", "paged-v2@H200", AUDIT_KERNEL, NULL, 0},
};

static void pairs_are_explained(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct bench b;
        struct problem p;
        struct message why;
        struct identification found[2];
        struct explanation e;
        draw_kind(&p, pairs[i].kind, 1000 + i);
        bench_new(&b, &p, 2);
        bench_measure(&b, pairs[i].x, FORMAT_BF16);
        bench_measure(&b, pairs[i].y, FORMAT_BF16);
        bench_judge(&b);
        struct identify_space *space = identify_space_new(&b.audit, &why);
        if (!identify(space, 0, &found[0], NULL, &why) ||
            !identify(space, 1, &found[1], NULL, &why) ||
            !identify_explain(space, &found[0], &found[1], &e, NULL, &why))
            fail_msg("%s, %s: %s", pairs[i].x, pairs[i].y, why.text);
        bool named = pairs[i].change == NULL;
        for (int n = 0; n < e.changes; n++)
            named =
                named || strstr(identify_change(space, e.change[n])->text, pairs[i].change) != NULL;
        if (e.verdict != pairs[i].verdict || !named || e.changes + e.other_base > pairs[i].most)
            fail_msg("%s, %s: %s, %d changes, %s and %s", pairs[i].x, pairs[i].y,
                     audit_verdict_name(e.verdict), e.changes, e.found ? e.from.name : "?",
                     e.found ? e.to.name : "?");
        identification_free(&found[0]);
        identification_free(&found[1]);
        explanation_free(&e);
        identify_space_free(space);
        bench_free(&b);
    }
}

/* ---- what is left over ---- */

/* The element whose value before OUT lies nearest to a boundary, or farthest from any; *other: the
   number beyond it. */
static int64_t at_boundary(const struct audit *a, bool nearest, double *other)
{
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t i = 0; i < audit_elements(a); i++) {
        double stored = a->run[0].O[i], before = a->run[1].O[i];
        double next = format_next(FORMAT_BF16, stored, before > stored ? 1 : -1);
        double apart = fabs(before - (stored + next) / 2) / fabs(stored);
        if (stored != 0 && (nearest ? apart : -apart) < least) {
            least = nearest ? apart : -apart;
            best = i;
            *other = next;
        }
    }
    return best;
}

/* One output becomes its neighbour: near a boundary another exp explains it, elsewhere nothing. */
static void a_flipped_bit_is_unexplained(void **unused)
{
    (void)unused;
    for (int nearest = 0; nearest < 2; nearest++) {
        struct bench b;
        struct problem p;
        struct message why;
        struct identification found;
        double other = 0;
        draw_kind(&p, KIND_PLAIN, 7);
        bench_new(&b, &p, 2);
        bench_measure(&b, "fa2@H200", FORMAT_BF16);
        bench_measure(&b, "fa2@H200", FORMAT_FP32);
        int64_t at = at_boundary(&b.audit, nearest, &other);
        b.audit.run[0].O[at] = other;
        bench_judge(&b);
        struct identify_space *space = identify_space_new(&b.audit, &why);
        assert_true(identify(space, 0, &found, NULL, &why));
        const struct identity *best = &found.best[0];
        if (found.verdict != (nearest ? AUDIT_LEGAL : AUDIT_UNEXPLAINED) || best->left != 1 ||
            best->explained != nearest)
            fail_msg("element %d is %a: %s, %s, %d left over, %d explained", (int)at, other,
                     audit_verdict_name(found.verdict), best->name, (int)best->left,
                     (int)best->explained);
        identification_free(&found);
        identify_space_free(space);
        bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_cases_are_recognised),
        cmocka_unit_test(pairs_are_explained),
        cmocka_unit_test(a_flipped_bit_is_unexplained),
        cmocka_unit_test(planted_differences_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
