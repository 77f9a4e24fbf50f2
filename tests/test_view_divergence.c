/* test_view_divergence.c: the divergence scene: its map against the same run by itself, the tree of
   any element that is pinned, and frames without a fault. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/truth.h"
#include "tests/view_case.h"

static struct view_case c;

static int set_up(void **state)
{
    struct message why;
    (void)state;
    if (case_open(&c,
                  "--scene divergence --shape 1,1,1,9,40,5 --generate gaussian --dtype bf16 "
                  "--tile 4,16",
                  &why))
        return 0;
    fprintf(stderr, "%s\n", why.text);
    return -1;
}

static int tear_down(void **state)
{
    (void)state;
    case_close(&c);
    return 0;
}

/* Every stored output and its error, from the simulation and the certified result. */
static void test_map(void **state)
{
    struct scenario_input in;
    struct simulation s;
    struct result result;
    struct message why;
    double largest = 0, rounded;
    int worst = 0;
    (void)state;
    assert_true(scenario_problem(&c.view.scenario, &in, &why));
    assert_true(scenario_simulation(&c.view.scenario, &in, &s, &why));
    assert_true(simulate(&in.problem, &s, &result, &why));
    struct head head = problem_head(&in.problem, 0);
    for (int n = 0; n < 45; n++) {
        struct inspection i;
        struct truth t;
        const enum format bf16 = FORMAT_BF16;
        int64_t dim = n % 5;
        truth_row(&head, n / 5, &dim, 1, &bf16, 1, &t, &rounded);
        double error = truth_error(&t, result.O[n]) / truth_ulp(&t, FORMAT_BF16);
        if (fabs(error) > largest) {
            largest = fabs(error);
            worst = n;
        }
        assert_true(c.scene.kind->inspect(&c.scene, n + 1, 0, &i));
        assert_true(i.value == result.O[n]);
        char wanted[80];
        snprintf(wanted, sizeof wanted, "O[%d,%d], off by %s ulp", n / 5, n % 5,
                 drift_words(error).text);
        assert_string_equal(i.name, wanted);
    }
    char *text = view_description(&c.scene, 1), wanted[80];
    snprintf(wanted, sizeof wanted, "the worst, O[%d,%d] = ", worst / 5, worst % 5);
    if (strstr(text, wanted) == NULL)
        fail_msg("no %s in\n%s", wanted, text);
    free(text);
    result_free(&result);
    scenario_input_free(&in);
}

/* Each element can be pinned, at any time; the worst is told again when it is let go. */
static void test_pinned(void **state)
{
    struct drawing d = {0};
    struct message which;
    (void)state;
    for (int n = 0; n <= 46; n += 3)
        for (int k = 0; k <= 3; k++) {
            struct frame_state f = frame_start();
            f.look.pinned = n;
            f.look.time = c.scene.moments * k / 3.0;
            frame_draw(&c.scene, &f, FRAME_WIDTH, FRAME_HEIGHT, &d);
            if (drawing_fault(&d, &which))
                fail_msg("pinned %d, time %g: %s", n, f.look.time, which.text);
            char *text = view_description(&c.scene, 1), wanted[48];
            snprintf(wanted, sizeof wanted, "O[%d,%d] = ", (n - 1) / 5, (n - 1) % 5);
            if (n > 0 && n <= 45)
                assert_non_null(strstr(text, wanted));
            else
                assert_non_null(strstr(text, "the worst, O["));
            free(text);
        }
    drawing_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_map), cmocka_unit_test(test_pinned)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
