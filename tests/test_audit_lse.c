/* test_audit_lse.c: a measured LSE made with one thing changed is recognised as just that; its
   distance in ulps; what a capture may say about it. */
#include <math.h>

#include "tests/folder.h"

#include "simulator/audit_parts.h"
#include "simulator/scenario_parts.h"
#include "tests/random_problem.h"

enum { HQ = 4, HKV = 2, NQ = 10, NK = 24, D = 8, ROWS = HQ * NQ };

/* How the LSE that is stored was made. */
struct made {
    const char *name, *says; /* metadata lse_base, or NULL */
    double scale, factor, off;
    int keys;
    bool causal, interleaved, holes;
    /* What must be found: rows wrong; and, if so, what fits. */
    int wrong;            /* -1: some */
    enum reading reading; /* READINGS: nothing fits */
    bool base_2;
    enum audit_verdict verdict;
};
static const double usual = 0.35355339059327379, ln_2 = 0.69314718055994531; /* 1/sqrt(8) */

static const struct made made[] = {
    {"natural", NULL, usual, 1, 0, NK, 0, 0, 0, 0, READINGS, 0, AUDIT_LEGAL},
    {"natural, and said", "e", usual, 1, 0, NK, 0, 0, 0, 0, READINGS, 0, AUDIT_LEGAL},
    {"base 2, and said", "2", usual, 1 / ln_2, 0, NK, 0, 0, 0, 0, READINGS, 0, AUDIT_LEGAL},
    {"base 2, not said", NULL, usual, 1 / ln_2, 0, NK, 0, 0, 0, -1, READ_AS_GIVEN, 1, AUDIT_LEGAL},
    {"natural, said base 2", "2", usual, 1, 0, NK, 0, 0, 0, -1, READ_AS_GIVEN, 0, AUDIT_LEGAL},
    {"unscaled", NULL, 1, 1, 0, NK, 0, 0, 0, -1, READ_SCALE_1, 0, AUDIT_OUTSIDE},
    {"unscaled, base 2", NULL, 1, 1 / ln_2, 0, NK, 0, 0, 0, -1, READ_SCALE_1, 1, AUDIT_OUTSIDE},
    {"causal", NULL, usual, 1, 0, NK, 1, 0, 0, -1, READ_CAUSAL, 0, AUDIT_OUTSIDE},
    {"a key less", NULL, usual, 1, 0, NK - 1, 0, 0, 0, -1, READ_LAST_KEY_DROPPED, 0, AUDIT_OUTSIDE},
    {"interleaved", NULL, usual, 1, 0, NK, 0, 1, 0, -1, READ_HEADS_INTERLEAVED, 0, AUDIT_OUTSIDE},
    {"shifted", NULL, usual, 1, 0.05, NK, 0, 0, 0, ROWS, READINGS, 0, AUDIT_OUTSIDE},
    {"a NaN", NULL, usual, 1, 0, NK, 0, 0, 1, 1, READ_AS_GIVEN, 0, AUDIT_OUTSIDE},
};

static double logarithm(const struct problem *p, const struct made *m, int h, int n)
{
    int kv = m->interleaved ? h % HKV : h / (HQ / HKV);
    double sum = 0;
    for (int c = 0; c < m->keys && (!m->causal || c <= n + NK - NQ); c++) {
        double s = 0;
        for (int d = 0; d < D; d++)
            s += m->scale * tensor_get(&p->q, 0, h, n, d) * tensor_get(&p->k, 0, kv, c, d);
        sum += exp(s);
    }
    return log(sum) * m->factor + m->off;
}

/* cap.safetensors: O as the definition has it, and the LSE as made. */
static void write_capture(const struct made *m, bool rank_2)
{
    struct bundle b = {0};
    struct problem p;
    struct message why;
    struct problem_options o = problem_defaults();
    struct tensor O, lse;
    uint64_t state = 4;
    assert_true(
        draw_problem(&p, FORMAT_BF16, (struct shape){1, HQ, HKV, NQ, NK, D}, 2, &o, &state));
    assert_true(tensor_new(&O, FORMAT_BF16, 4, (int64_t[]){1, HQ, NQ, D}, &why));
    assert_true(tensor_new(&lse, FORMAT_FP32, rank_2 ? 2 : 3,
                           rank_2 ? (int64_t[]){HQ, NQ} : (int64_t[]){1, HQ, NQ}, &why));
    for (int h = 0; h < HQ; h++)
        for (int n = 0; n < NQ; n++) {
            double value[D], L = m->holes && h == 2 && n == 7 ? NAN : logarithm(&p, m, h, n);
            struct head head = problem_head(&p, h);
            struct truth truth[D];
            const int64_t dims[D] = {0, 1, 2, 3, 4, 5, 6, 7};
            const enum format f = FORMAT_BF16;
            tensor_set(&lse, rank_2 ? h : 0, rank_2 ? n : h, rank_2 ? 0 : n, 0, (float)L);
            truth_row(&head, n, dims, D, &f, 1, truth, value);
            for (int d = 0; d < D; d++)
                tensor_set(&O, 0, h, n, d, value[d]);
        }
    assert_true(bundle_add(&b, "q", &p.q, &why) && bundle_add(&b, "k", &p.k, &why) &&
                bundle_add(&b, "v", &p.v, &why) && bundle_add(&b, "o.x", &O, &why) &&
                bundle_add(&b, "lse.x", &lse, &why));
    assert_true(m->says == NULL || bundle_add_meta(&b, "lse_base.x", m->says, &why));
    if (!bundle_write("cap.safetensors", &b, true, &why))
        fail_msg("%s", why.text);
    bundle_free(&b);
    problem_free(&p);
    tensor_free(&O);
    tensor_free(&lse);
}

/* False with a sentence, or the judged audit. */
static bool audit_capture(struct audit *a, struct scenario *s, struct message *why)
{
    char *argv[] = {"./cap.safetensors", "--threads", "2"};
    assert_true(scenario_parse(s, "audit", GROUP_PROBLEM | GROUP_RUN | GROUP_SELECT | GROUP_AUDIT,
                               3, argv, why));
    return audit_new(a, s, why) && audit_judge(a, NULL, why);
}

static void recognised(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const struct made *m = &made[i];
        struct scenario s;
        struct audit a;
        struct message why;
        write_capture(m, i % 2 == 1);
        if (!audit_capture(&a, &s, &why))
            fail_msg("%s: %s", m->name, why.text);
        const struct audit_lse *l = &a.run[0].lse;
        int64_t wrong = audit_lse_wrong(l);
        bool fits = m->wrong == 1 ? false : m->reading < READINGS;
        if ((m->wrong >= 0 ? wrong != m->wrong : wrong == 0) || l->fits != fits ||
            (fits && (l->reading != m->reading || l->fits_base_2 != m->base_2)))
            fail_msg("%s: %lld rows wrong, %s \"%s\", base %s", m->name, (long long)wrong,
                     l->fits ? "fits" : "nothing fits", l->fits ? reading_words(l->reading) : "",
                     l->fits_base_2 ? "2" : "e");
        if (m->wrong == 0 && !(l->max_ulp <= (m->says != NULL && m->factor != 1 ? 2.0 : 0.5001)))
            fail_msg("%s: %g ulp off", m->name, l->max_ulp);
        if (m->holes && (l->of_kind != 1 || l->first != 2 * NQ + 7))
            fail_msg("%s: %lld NaN, the first in row %lld", m->name, (long long)l->of_kind,
                     (long long)l->first);
        if (audit_verdict(&a) != m->verdict)
            fail_msg("%s: %s", m->name, audit_verdict_name(audit_verdict(&a)));
        audit_free(&a);
        scenario_free(&s);
    }
}

/* One number of fp32 away is one ulp; the bound of a row is wide, but no base is inside it. */
static void distances(void **unused)
{
    (void)unused;
    struct made m = made[0];
    struct scenario s;
    struct audit a;
    struct message why;
    write_capture(&m, false);
    assert_true(audit_capture(&a, &s, &why));
    struct audit_lse l = a.run[0].lse, plain = l;
    double *stored = malloc(ROWS * sizeof *stored);
    for (int i = 0; i < ROWS; i++)
        stored[i] = format_next(FORMAT_FP32, l.stored[i], 1);
    l = (struct audit_lse){.stored = stored, .format = FORMAT_FP32};
    assert_true(audit_lse_judge(&l, &a.in.problem, &a.selection, 1, &why));
    assert_true(fabs((l.sum_ulp - plain.sum_ulp) / ROWS - 1) < 1e-9);
    assert_int_equal(l.rounded, 0);
    assert_int_equal(plain.rounded, ROWS);
    free(stored);
    audit_free(&a);
    scenario_free(&s);
}

/* A row that sees no key: -inf; FlashAttention-2 stores +inf, which is counted apart. */
static void rows_without_keys(void **unused)
{
    (void)unused;
    enum { QUERIES = 4, KEYS = 2 };
    struct problem p;
    struct tensor lse;
    struct message why;
    struct problem_options o = problem_defaults();
    struct scenario s;
    uint64_t state = 9;
    o.mask.causal = true;
    assert_true(
        draw_problem(&p, FORMAT_BF16, (struct shape){1, 1, 1, QUERIES, KEYS, D}, 1, &o, &state));
    assert_true(tensor_new(&lse, FORMAT_FP32, 1, (int64_t[]){QUERIES}, &why));
    char *argv[] = {"fa2-4"};
    assert_true(scenario_parse(&s, "audit", GROUP_PROBLEM | GROUP_SELECT, 1, argv, &why));
    struct selection selection;
    assert_true(scenario_select(&s, &p, &selection, &why));
    for (int plus = 0; plus < 2; plus++) {
        struct audit_lse l = {0};
        for (int n = 0; n < QUERIES; n++) {
            struct head h = problem_head(&p, 0);
            struct truth truth;
            double rounded;
            truth_lse(&h, n, FORMAT_FP32, &truth, &rounded);
            tensor_set(&lse, n, 0, 0, 0, plus && isinf(rounded) ? INFINITY : rounded);
        }
        assert_true(audit_lse_take(&l, "lse", &lse, &p, &selection, &why));
        assert_true(audit_lse_judge(&l, &p, &selection, 1, &why));
        assert_int_equal(audit_lse_wrong(&l), 0);
        assert_int_equal(l.plus_infinity, plus ? QUERIES - KEYS : 0);
        free(l.stored);
    }
    selection_free(&selection);
    scenario_free(&s);
    tensor_free(&lse);
    problem_free(&p);
}

static void refusals(void **unused)
{
    (void)unused;
    struct made m = made[0];
    struct scenario s;
    struct audit a;
    struct message why;
    m.says = "10";
    write_capture(&m, false);
    check_refused(audit_capture(&a, &s, &why), &why,
                  "./cap.safetensors: metadata lse_base '10': e or 2 is right");
    audit_free(&a);
    scenario_free(&s);
    write_capture(&made[0], false);
    assert_true(audit_capture(&a, &s, &why));
    struct tensor wrong;
    struct audit_lse l = {0};
    assert_true(tensor_new(&wrong, FORMAT_FP32, 3, (int64_t[]){1, NQ, HQ}, &why));
    check_refused(audit_lse_take(&l, "lse.x", &wrong, &a.in.problem, &a.selection, &why), &why,
                  "lse.x: its shape is (1, 10, 4); the LSE of this problem is (1, 4, 10)");
    tensor_free(&wrong);
    audit_free(&a);
    scenario_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recognised),
        cmocka_unit_test(distances),
        cmocka_unit_test(rows_without_keys),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
