/* test_audit_range.c: the range of every distance is that of the runs made one by one, named with
   their settings; settings of one kernel go together. */
#include <math.h>

#include "tests/folder.h"

#include "simulator/audit_parts.h"
#include "tests/random_problem.h"

static void write_capture(void)
{
    struct problem p;
    struct bundle b = {0};
    struct message why;
    struct problem_options o = problem_defaults();
    uint64_t state = 11;
    assert_true(draw_problem(&p, FORMAT_BF16, (struct shape){1, 2, 1, 1, 300, 64}, 1, &o, &state));
    assert_true(bundle_add(&b, "q", &p.q, &why) && bundle_add(&b, "k", &p.k, &why) &&
                bundle_add(&b, "v", &p.v, &why));
    if (!bundle_write("cap.safetensors", &b, true, &why))
        fail_msg("%s", why.text);
    bundle_free(&b);
    problem_free(&p);
}

/* The map of these runs. */
static void map_of(const char *runs, struct audit_map *m)
{
    char list[600], *argv[] = {"./cap.safetensors", "--runs", list};
    struct scenario s;
    struct audit a;
    struct message why;
    snprintf(list, sizeof list, "%s", runs);
    memset(m, 0, sizeof *m);
    assert_true(
        scenario_parse(&s, "audit", GROUP_PROBLEM | GROUP_RUN | GROUP_AUDIT, 3, argv, &why));
    if (!audit_new(&a, &s, &why) || !audit_judge(&a, NULL, &why) || !audit_map(&a, m, &why))
        fail_msg("%s: %s", runs, why.text);
    audit_free(&a);
    scenario_free(&s);
}

/* By hand: settings of run 0 are 0-3, of run 1 4-5, of run 2 6-7, each run's own first. */
static const char by_hand[] =
    "trtllm-reducer@H200,trtllm-reducer@H200+special=poly,trtllm-reducer@H200+weights=fp32,"
    "trtllm-reducer@H200+weights=fp32+special=poly,trtllm-reducer@B200+weights=fp32,"
    "trtllm-reducer@B200+weights=fp32+special=poly,fa2-split@H200,fa2-split@H200+special=poly";
static const int first[4] = {0, 4, 6, 8};

static void ranges_by_hand(void **unused)
{
    (void)unused;
    struct audit_map m, hand;
    write_capture();
    map_of("trtllm-reducer@H200,trtllm-reducer@B200+weights=fp32,fa2-split@H200", &m);
    map_of(by_hand, &hand);
    assert_true(m.settings[0] == 4 && m.settings[1] == 2 && m.settings[2] == 2 && m.points == 5);
    assert_string_equal(m.open[0], "weights, exp");
    assert_string_equal(m.open[2], "exp");
    for (int part = 0; part < 2; part++) {
        const struct map *all = part == 0 ? &hand.stored : &hand.before;
        for (int i = 0; i < 3; i++) {
            double low = INFINITY, high = 0;
            for (int x = first[i]; x < first[i + 1]; x++) {
                low = fmin(low, all->to_exact[x]);
                high = fmax(high, all->to_exact[x]);
            }
            if (m.range[part].exact_low[i] != low || m.range[part].exact_high[i] != high)
                fail_msg("part %d, run %d to exact: %g .. %g, by hand %g .. %g", part, i,
                         m.range[part].exact_low[i], m.range[part].exact_high[i], low, high);
            for (int j = 0; j < i; j++) {
                low = INFINITY, high = 0;
                for (int x = first[i]; x < first[i + 1]; x++)
                    for (int y = first[j]; y < first[j + 1]; y++) {
                        low = fmin(low, all->apart[x][y]);
                        high = fmax(high, all->apart[x][y]);
                    }
                if (m.range[part].low[i][j] != low || m.range[part].high[i][j] != high)
                    fail_msg("part %d, runs %d and %d: %g .. %g, by hand %g .. %g", part, i, j,
                             m.range[part].low[i][j], m.range[part].high[i][j], low, high);
            }
        }
    }
    assert_true(m.range[0].low[0][1] == 0 && m.stored.apart[0][1] > 0 && m.cannot_tell[0][1]);
    assert_false(m.cannot_tell[0][2]);
}

/* Two GPUs that group alike: one setting for both, so they never part. */
static void one_kernel(void **unused)
{
    (void)unused;
    struct audit_map m;
    map_of("trtllm-reducer@H200,trtllm-reducer@H100-SXM", &m);
    assert_true(m.settings[0] == 4 && m.settings[1] == 4);
    assert_true(m.range[0].high[0][1] == 0 && m.range[1].high[0][1] == 0 && m.cannot_tell[0][1]);
    map_of("fa2:gpu-bf16,decode+splits=2+tile=1;64", &m);
    assert_true(m.settings[0] == 1 && m.points == 0 && m.open[0][0] == 0);
    assert_true(m.range[0].low[0][1] == m.stored.apart[0][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_by_hand),
        cmocka_unit_test(one_kernel),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
