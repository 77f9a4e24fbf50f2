/* test_view_divergence.c: the divergence scene: its map against the same run by itself, the tree of
   any element that is pinned; what the sites moved and where the runs lie against the audit; every
   page by keys alone; frames without a fault. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/truth.h"
#include "simulator/audit.h"
#include "simulator/scenario_parts.h"
#include "tests/view_case.h"
#include "visualize/control.h"
#include "visualize/scene_divergence.h"

static struct view_case c, small;

static int set_up(void **state)
{
    struct message why;
    (void)state;
    if (case_open(&c,
                  "--scene divergence --shape 1,1,1,9,40,5 --generate gaussian --dtype bf16 "
                  "--tile 4,16",
                  &why) &&
        case_open(&small,
                  "--scene divergence --shape 1,4,1,1,600,128 --generate gaussian --dtype bf16 "
                  "--live page=map --tile 16,32",
                  &why))
        return 0;
    fprintf(stderr, "%s\n", why.text);
    return -1;
}

static int tear_down(void **state)
{
    (void)state;
    case_close(&c);
    case_close(&small);
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

static void opened(struct view_case *v, const char *words)
{
    struct message why;
    if (!case_open(v, words, &why))
        fail_msg("%s: %s", words, why.text);
}

/* The same runs, by the audit: signed sums of every site, the distances, the errors. */
static void test_same_as_audit(void **state)
{
    struct audit a;
    struct audit_map map = {.points = 0};
    struct message why;
    static char runs[] = "fa2:gpu-bf16+tile=16;32,fa2-split@H200,fa2-split@B200,"
                         "fa2-split@RTX-PRO-6000,triton-decode@H200,triton-decode@B200,"
                         "triton-decode@RTX-PRO-6000,xqa@H200,trtllm-reducer@B200,xqa@RTX-PRO-6000";
    (void)state;
    const struct audited *x = &((struct divergence_view *)small.scene.story)->core->audited;
    struct scenario s = small.view.scenario;
    s.value[OPTION_RUNS] = runs;
    s.value[OPTION_TILE] = NULL;
    s.given[OPTION_TILE] = false; /* run A's alone */
    if (!audit_new(&a, &s, &why) || !audit_judge(&a, NULL, &why) ||
        !audit_attribute(&a, 1, 0, NULL, &why) || !audit_points(&a, &map, &why))
        fail_msg("%s", why.text);
    assert_int_equal(x->runs, a.runs);
    assert_int_equal(x->outputs, audit_elements(&a));
    for (int n = 0; n < a.runs; n++) {
        for (int site = 0; site <= SITE_OUT; site++) {
            double sum = 0;
            for (int64_t i = 0; x->run[n].moved[site] != NULL && i < x->outputs; i++)
                sum += x->run[n].moved[site][i];
            if (fabs(sum - a.run[n].sites.in_situ[site]) > 1e-9 * (1 + fabs(sum)))
                fail_msg("%s, %s: %.17g, not %.17g", x->run[n].name, site_name((enum site)site),
                         sum, a.run[n].sites.in_situ[site]);
        }
        for (int k = 0; k < a.runs; k++)
            assert_true(x->map[0].apart[n][k] == map.stored.apart[n][k]);
        assert_true(x->map[1].x[n] == map.before.x[n]);
        assert_memory_equal(x->run[n].stored, a.run[n].O, (size_t)x->outputs * sizeof(double));
    }
    audit_free(&a);
}

/* The rows of page SITES, added up, are the whole error of what is stored. */
static void test_rows_add_up(void **state)
{
    (void)state;
    struct divergence_view *d = small.scene.story;
    const struct audited *x = &d->core->audited;
    d->page = DIVERGENCE_SITES;
    for (int output = 0; output < d->core->rows * d->core->cols; output += 7) {
        divergence_choose(d, output + 1);
        const struct site_rows rows = d->rows;
        int64_t i = divergence_audited(d, output);
        assert_int_equal(i, output); /* four heads, 128 columns: both in one order */
        for (int n = 0; n < x->runs; n++) {
            const struct truth t = {{x->exact[i][0], x->exact[i][1]}};
            double error = truth_error(&t, x->run[n].stored[i]) / truth_ulp(&t, FORMAT_BF16);
            double sum = 0, total = divergence_moved(d, &rows, n, ROW_TOTAL, i);
            for (int k = 0; k < rows.count; k++)
                if (rows.row[k] != ROW_TOTAL)
                    sum += divergence_moved(d, &rows, n, rows.row[k], i);
            double near = 1e-9 * (1 + fabs(error));
            if (fabs(sum - total) > near || fabs(total - error) > near)
                fail_msg("output %d, %s: %.17g, %.17g, not %.17g", output, x->run[n].name, sum,
                         total, error);
        }
    }
    d->page = DIVERGENCE_MAP;
}

/* Letters are told apart, E is left to the exact result; a family has one marker and ink. */
static void test_styles(void **state)
{
    (void)state;
    const struct audited *x = &((struct divergence_view *)small.scene.story)->core->audited;
    char letters[MAP_MOST + 1] = "";
    for (int n = 0; n < x->runs; n++)
        letters[n] = divergence_style(x, n).letter;
    assert_string_equal(letters, "ABCDFGHIJK");
    for (int n = 0; n < x->runs; n++)
        for (int k = 0; k < n; k++) {
            bool same = strcmp(divergence_family(&x->run[n]), divergence_family(&x->run[k])) == 0;
            assert_int_equal(divergence_style(x, n).mark == divergence_style(x, k).mark, same);
            assert_int_equal(divergence_style(x, n).ink == divergence_style(x, k).ink, same);
        }
}

static void check_page(const struct scene *s, double wide, double high, const char *what)
{
    struct drawing d = {0};
    struct message which;
    for (int n = 0; n <= 2 * s->moments && n <= 14; n++) {
        struct frame_state f = frame_start();
        f.look.time = s->moments > 7 ? s->moments * n / 14.0 : n / 2.0;
        f.look.pinned = n % 3 == 0 ? 0 : n;
        frame_draw(s, &f, wide, high, &d);
        if (drawing_fault(&d, &which))
            fail_msg("%s, %g x %g, time %g: %s", what, wide, high, f.look.time, which.text);
    }
    drawing_free(&d);
}

static void test_pages(void **state)
{
    static const char *const rows[] = {
        "--scene divergence --shape 1,1,1,9,40,8 --generate gaussian --live page=sites",
        "--scene divergence --shape 1,2,1,5,70,64 --generate gaussian --dtype bf16 --live page=map",
        "--scene divergence --shape 1,4,2,1,260,128 --generate gaussian --dtype bf16 --kernel "
        "xqa@H200 --live page=sites",
        "--scene divergence --shape 1,1,1,6,40,8 --generate gaussian --dtype bf16 --live page=map "
        "--runs fa2:fp32"};
    (void)state;
    check_page(&small.scene, FRAME_WIDTH, FRAME_HEIGHT, "the map");
    check_page(&small.scene, 1600, 900, "the map");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct view_case v;
        struct scene last, next;
        struct message why;
        opened(&v, rows[i]);
        last = v.scene;
        for (int page = 0; page < 4; page++) {
            check_page(&last, FRAME_WIDTH, FRAME_HEIGHT, rows[i]);
            check_page(&last, 1600, 900, rows[i]);
            if (!last.kind->change(&last, 0, 1, 0, &next, &why))
                fail_msg("%s: %s", rows[i], why.text);
            if (page > 0)
                last.kind->close(&last);
            last = next;
        }
        last.kind->close(&last);
        case_close(&v);
    }
}

static void said(struct control *k, const char *wanted)
{
    char *text = view_description(&k->scene, k->frame.look.time);
    if (strstr(text, wanted) == NULL)
        fail_msg("no \"%s\" in\n%s", wanted, text);
    free(text);
}

/* The worst output, its bars, the map, the next worst: no pointer. */
static void test_keys_alone(void **state)
{
    struct view_case v;
    struct control k;
    char wanted[80];
    (void)state;
    opened(&v, "--scene divergence --shape 1,4,1,1,200,128 --generate gaussian --dtype bf16");
    const struct divergence_core *core = ((struct divergence_view *)v.scene.story)->core;
    control_start(&k, &v.view, "end", FRAME_WIDTH, FRAME_HEIGHT);
    control_wait(&k);
    control_draw(&k);
    snprintf(wanted, sizeof wanted, "the worst, O[head %d, %d]", core->order[0] / 128,
             core->order[0] % 128);
    said(&k, wanted);
    for (int n = 0; n < 2; n++) { /* the worst is pinned, then the next one */
        control_press_key(&k, KEY_K, false);
        control_draw(&k);
        assert_int_equal(k.frame.look.pinned, core->order[n] + 1);
    }
    control_press_key(&k, KEY_MORE, false);
    control_wait(&k);
    control_draw(&k);
    control_press_key(&k, KEY_END, false);
    snprintf(wanted, sizeof wanted, "O[head %d, %d]: what each rounding moved it by",
             core->order[1] / 128, core->order[1] % 128);
    said(&k, wanted);
    said(&k, "A fa2:gpu-bf16: PROB ");
    control_press_key(&k, KEY_MORE, false);
    control_wait(&k);
    control_draw(&k);
    control_press_key(&k, KEY_END, false);
    said(&k, "nearest to the centre: ");
    said(&k, "E exact: ");
    control_press_key(&k, KEY_MORE, false);
    control_wait(&k);
    control_draw(&k);
    snprintf(wanted, sizeof wanted, "chosen: O[head %d, %d] = ", core->order[1] / 128,
             core->order[1] % 128);
    said(&k, wanted);
    control_end(&k);
    case_close(&v);
}

/* A tab is clicked; the drawing's boxes with the frame's own numbers are the tabs'. */
static void test_tabs(void **state)
{
    struct view_case v;
    struct control k;
    struct parameter p[PARAMETER_MOST];
    (void)state;
    opened(&v, "--scene divergence --shape 1,1,1,4,40,8 --generate gaussian --dtype bf16");
    control_start(&k, &v.view, "end", FRAME_WIDTH, FRAME_HEIGHT);
    control_wait(&k);
    control_draw(&k);
    control_press(&k, 16 + 147 + 4 + 60, 56 + 10); /* the second */
    control_release(&k, 16 + 147 + 4 + 60, 56 + 10);
    control_wait(&k);
    k.scene.kind->parameters(&k.scene, p);
    assert_string_equal(p[0].value, "sites");
    control_draw(&k);
    control_press(&k, 20, 56 + 10); /* the first */
    control_release(&k, 20, 56 + 10);
    control_wait(&k);
    k.scene.kind->parameters(&k.scene, p);
    assert_string_equal(p[0].value, "where");
    control_end(&k);
    case_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),           cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_same_as_audit), cmocka_unit_test(test_rows_add_up),
        cmocka_unit_test(test_styles),        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_keys_alone),    cmocka_unit_test(test_tabs)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
