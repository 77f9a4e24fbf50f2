/* test_ledger_calls.c: the ledger call by call: two-site calls tell their errors apart, decisions
   are repeated, and attribution stops where a number is not finite in one run alone. */
#include "tests/recording.h"

#include "tests/small_problem.h"

/* One call with two sites: 1 x 3 tiles. */
struct two_sites {
    enum site arg, site;
    const char *set_arg, *set_site;
    void (*perform)(struct run *r, const struct two_sites *t, struct tile *dst);
};

static struct tile *row_of_numbers(struct run *r, int rows, int cols, const double *x)
{
    struct tile *t = tile_new(r, TENSOR_SCRATCH, rows, cols);
    for (int i = 0; i < rows * cols; i++)
        r->arith->set(t->data, (size_t)i, x[i]);
    return t;
}

static void call_exp_shift(struct run *r, const struct two_sites *t, struct tile *dst)
{
    struct tile *a = row_of_numbers(r, 1, 3, (double[]){0.31257, -1.2812, 2.7187});
    struct tile *m = row_of_numbers(r, 1, 1, (double[]){2.7109375});
    exp_shift(r, dst, a, m, t->arg, t->site);
}

static void call_mma_ab(struct run *r, const struct two_sites *t, struct tile *dst)
{
    struct tile *a = row_of_numbers(r, 1, 2, (double[]){0.333251953125, 1.7});
    struct tile *b = row_of_numbers(r, 2, 3, (double[]){1.25, 3.14159, -7, 0.1, 2.7, 5.3});
    mma_ab(r, dst, a, b, t->arg, t->site);
}

/* The call in `arith` with `sites` of the recording in force; all three elements. */
static void one_call(const struct two_sites *t, const struct arithmetic *arith,
                     const struct policy *policy, struct ledger *l, int64_t sites, double out[3])
{
    struct run r;
    struct message why;
    assert_true(run_new(&r, arith, policy, 256, &why));
    struct tile *dst = tile_new(&r, TENSOR_SCRATCH, 1, 3);
    if (l != NULL && sites < 0)
        ledger_record(l, &r, &arith_double, 256);
    else if (l != NULL)
        ledger_replay(l, &r, (uint64_t)sites);
    t->perform(&r, t, dst);
    for (int c = 0; c < 3; c++)
        out[c] = tile_get(&r, dst, 0, c);
    run_free(&r);
}

static const struct two_sites two_site_calls[] = {
    {SITE_EXP_ARG, SITE_EXP, "EXP_ARG=bf16", "EXP=fp16", call_exp_shift},
    {SITE_RESCALE_ARG, SITE_RESCALE, "RESCALE_ARG=fp16", "RESCALE=bf16", call_exp_shift},
    {SITE_PV_PRODUCT, SITE_OUT_ACC, "PV_PRODUCT=bf16", "OUT_ACC=bf16", call_mma_ab},
};

/* The first site's error is what rounding it alone does; the second's the rest; both, the run. */
static void two_site_calls_split(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < sizeof two_site_calls / sizeof *two_site_calls; n++) {
        const struct two_sites *t = &two_site_calls[n];
        struct message why;
        struct policy exact = policy_table(POLICY_EXACT), first = exact;
        assert_true(policy_set(&first, t->set_arg, &why));
        struct policy both = first;
        assert_true(policy_set(&both, t->set_site, &why));
        struct ledger *l = ledger_new();
        double got[3], none[3], alone[3], arg[3], own[3], all[3];
        one_call(t, &arith_double, &both, l, -1, got);
        one_call(t, &arith_double, &exact, NULL, 0, none);
        one_call(t, &arith_double, &first, NULL, 0, alone);
        one_call(t, &arith_double, &exact, l, INT64_C(1) << t->arg, arg);
        one_call(t, &arith_double, &exact, l, INT64_C(1) << t->site, own);
        one_call(t, &arith_double, &exact, l, (int64_t)EVERY_SITE, all);
        int moved_by_arg = 0, moved_by_own = 0;
        for (int c = 0; c < 3; c++) {
            double tiny = fabs(got[c]) * 0x1p-50;
            moved_by_arg += alone[c] != none[c];
            moved_by_own += got[c] != alone[c];
            if (!(fabs(arg[c] - alone[c]) <= tiny && fabs(all[c] - got[c]) <= tiny &&
                  fabs((own[c] - none[c]) - (got[c] - alone[c])) <= tiny))
                fail_msg("%s: run %a, exact %a, argument alone %a; replayed %a, %a, both %a",
                         t->set_arg, got[c], none[c], alone[c], arg[c], own[c], all[c]);
        }
        assert_true(moved_by_arg > 0 && moved_by_own > 0);
        ledger_free(l);
    }
}

/* A decision taken on rounded numbers is repeated where the exact ones would decide otherwise. */
static bool decide(struct run *r)
{
    struct tile *a = row_of_numbers(r, 1, 1, (double[]){1});
    struct tile *b = row_of_numbers(r, 1, 1, (double[]){1});
    struct tile *small = row_of_numbers(r, 1, 1, (double[]){0x1p-30});
    add(r, b, b, small, SITE_ROW_SUM);
    return rows_equal(r, a, b);
}

static void decisions_are_repeated(void **unused)
{
    (void)unused;
    struct message why;
    struct policy fp32 = policy_table(POLICY_FP32), exact = policy_table(POLICY_EXACT);
    struct ledger *l = ledger_new();
    struct run r;
    assert_true(run_new(&r, arith_float(), &fp32, 0, &why));
    ledger_record(l, &r, &arith_double, 0);
    assert_true(decide(&r));
    run_free(&r);
    assert_true(run_new(&r, &arith_double, &exact, 0, &why));
    assert_false(decide(&r));
    ledger_replay(l, &r, 0);
    assert_true(decide(&r));
    run_free(&r);
    ledger_free(l);
}

/* fa2, fp32, one query, tile 64: call 0 is the scale, 1 q.k, 2 the scaled score, 3 the decay,
   4 l, 5 O rescaled, 6 the weights, 7 their sum, 8 PROB, 9 P V, 10 the division. */
static const struct infinite_row {
    const char *what;
    int Nk;
    const char *q, *k, *v;
    int64_t first;
    bool only_first_seen;
} infinite_rows[] = {
    {"finite", 2, "1", "1 2", "1 2", -1, false},
    {"a score overflows", 2, "1e30", "1e30 1", "1 2", 1, false},
    {"a sum of values overflows", 3, "0", "0 0 0", "3e38 3e38 1", 9, false},
    {"a visible NaN: the same in both", 2, "1", "nan 1", "1 2", -1, false},
    {"a score of +inf: the same in both", 2, "1", "inf 1", "1 2", -1, false},
    {"an infinite value: the same in both", 2, "1", "1 1", "inf 2", -1, false},
    {"no key", 0, "1", "", "", -1, false},
    {"NaN in a hidden key and value: nowhere", 2, "1", "1 nan", "2 nan", -1, true},
};

static void infinities(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < sizeof infinite_rows / sizeof *infinite_rows; n++) {
        const struct infinite_row *row = &infinite_rows[n];
        struct simulation s = simulation_of(ALGORITHM_FA2, POLICY_FP32, 1, 64);
        struct problem p;
        struct message why;
        int64_t changed;
        assert_true(small_problem(&p, 1, 1, row->Nk, row->q, row->k, row->v));
        assert_true(problem_round_input(&p, FORMAT_FP32, &changed, &why));
        if (row->only_first_seen)
            p.mask = (struct mask){true, ALIGN_TOP_LEFT, -1, -1};
        struct head h = problem_head(&p, 0);
        struct recording x = {.head = &h, .simulation = &s, .exact = &arith_double};
        record(&x);
        if (ledger_first_nonfinite(x.ledger) != row->first)
            fail_msg("%s: attribution stops at call %lld, expected %lld", row->what,
                     (long long)ledger_first_nonfinite(x.ledger), (long long)row->first);
        struct output all = replay(&x, EVERY_SITE);
        double got = x.got.O[0][0], again = all.O[0][0];
        if (row->first < 0 && !(isfinite(got) ? fabs(again - got) <= 0x1p-40 * fabs(got)
                                              : isnan(got) ? isnan(again) : again == got))
            fail_msg("%s: the run gives %a, its replay %a", row->what, got, again);
        free(all.O);
        recording_free(&x);
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_site_calls_split),
        cmocka_unit_test(decisions_are_repeated),
        cmocka_unit_test(infinities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
