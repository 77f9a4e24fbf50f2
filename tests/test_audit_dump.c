/* test_audit_dump.c: an audit of a dumped call, of its replay on another GPU, and of a call that was
   given another K. */
#include "tests/dump_case.h"

#include "simulator/audit_parts.h"
#include "tests/random_problem.h"

enum { HQ = 4, HKV = 2, D = 8 };
static double q[HQ * D], o[HQ * D], lse[HQ], kv[2][64 * HKV * D];

/* True attention in bf16, its LSE to base 2. */
static void audited(void **unused)
{
    (void)unused;
    enum { KEYS = 11 };
    struct problem p;
    struct problem_options options = problem_defaults();
    uint64_t state = 3;
    assert_int_equal(mkdir("calls", 0777), 0);
    assert_true(
        draw_problem(&p, FORMAT_BF16, (struct shape){1, HQ, HKV, 1, KEYS, D}, 1, &options, &state));
    for (int h = 0; h < HQ; h++) {
        struct head head = problem_head(&p, h);
        struct truth truth[D], L;
        const int64_t dims[D] = {0, 1, 2, 3, 4, 5, 6, 7};
        const enum format f = FORMAT_BF16;
        double rounded;
        truth_row(&head, 0, dims, D, &f, 1, truth, o + h * D);
        truth_lse(&head, 0, FORMAT_FP32, &L, &rounded);
        lse[h] = rounded / 0.69314718055994531;
        for (int d = 0; d < D; d++)
            q[h * D + d] = tensor_get(&p.q, 0, h, 0, d);
    }
    for (int n = 0; n < KEYS; n++)
        for (int h = 0; h < HKV; h++)
            for (int d = 0; d < D; d++) {
                kv[0][(n * HKV + h) * D + d] = tensor_get(&p.k, 0, h, n, d);
                kv[1][(n * HKV + h) * D + d] = tensor_get(&p.v, 0, h, n, d);
            }
    const struct dump_tensor inputs[] = {{"arg_0", "BF16", 2, {HQ, D}, q},
                                         {"arg_1", "BF16", 3, {KEYS, HKV, D}, kv[0]},
                                         {"arg_2", "BF16", 3, {KEYS, HKV, D}, kv[1]}};
    const struct dump_tensor outputs[] = {{"result_0", "BF16", 2, {HQ, D}, o},
                                          {"result_1", "F32", 1, {HQ}, lse}};
    for (int other = 0; other < 3; other++) {
        const char *const folder[] = {"calls/a", "calls/b", "calls/c"};
        kv[0][5] += other == 2 ? 1 : 0;
        dump_put(folder[other], "single_decode_with_kv_cache", decode_signature, "", "", inputs, 3,
                 outputs, 2);
    }
    for (int other = 1; other < 3; other++) {
        char runs[] = "file:calls/b";
        struct scenario s;
        struct audit a;
        struct message why;
        runs[11] = other == 1 ? 'b' : 'c';
        char *argv[] = {"calls/a", "--runs", runs};
        assert_true(
            scenario_parse(&s, "audit", GROUP_PROBLEM | GROUP_AUDIT | GROUP_RUN, 3, argv, &why));
        bool ok = audit_new(&a, &s, &why) && audit_judge(&a, NULL, &why);
        if (other == 2) {
            if (ok || strstr(why.text, "--runs file:calls/c: INPUTS DIFFER: its K[0,0,0,5] is ") == NULL)
                fail_msg("another K: %s", ok ? "taken" : why.text);
        } else if (!ok || a.runs != 2 || strcmp(a.run[0].name, "o") != 0 ||
                   a.run[0].rounded != HQ * D || audit_verdict(&a) != AUDIT_LEGAL ||
                   !a.run[1].lse.fits_base_2) {
            fail_msg("%s", ok ? "not as it should be" : why.text);
        }
        audit_free(&a);
        scenario_free(&s);
    }
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(audited)};
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
