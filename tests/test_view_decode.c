/* test_view_decode.c: the decode scene: the groups, what they leave and where the results land are
   those of the teaching input's table, bit for bit; moving a GPU's SMs moves its groups. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/view_case.h"
#include "visualize/scene_decode.h"

static struct view_case teaching;

static int set_up(void **state)
{
    struct message why;
    (void)state;
    if (case_open(&teaching, "--scene decode", &why))
        return 0;
    fprintf(stderr, "%s\n", why.text);
    return -1;
}

static int tear_down(void **state)
{
    (void)state;
    case_close(&teaching);
    return 0;
}

static const struct decode_story *story_of(const struct scene *s)
{
    return &((const struct decode_view *)s->story)->story;
}

static uint32_t bits(double x)
{
    return (uint32_t)format_encode(FORMAT_FP32, x);
}

/* The printed table: groups, value before the last rounding, output, first record. */
static void test_teaching_table(void **state)
{
    static const struct {
        const char *name;
        int sms, groups, tokens;
        uint32_t before;
        double stored;
        uint32_t O, L;
    } rows[] = {{"H200", 132, 54, 512, 0x3FA97D4F, 1.3203125, 0x3FAA0812, 0x40F319DB},
                {"B200", 148, 62, 448, 0x3FA98218, 1.328125, 0x3FAAE44F, 0x40EC85A5},
                {"RTX-PRO-6000", 188, 87, 320, 0x3FA98301, 1.328125, 0x3FAB0977, 0x40DD4304}};
    const struct decode_story *s = story_of(&teaching.scene);
    (void)state;
    assert_int_equal(s->lanes, 3);
    for (int n = 0; n < 3; n++) {
        const struct decode_lane *l = &s->lane[n];
        assert_string_equal(l->name, rows[n].name);
        assert_int_equal(l->sms, rows[n].sms);
        assert_int_equal(l->groups, rows[n].groups);
        assert_int_equal(l->plan.blocks_per_split * l->plan.block_tokens, rows[n].tokens);
        assert_int_equal(bits(l->before), rows[n].before);
        assert_true(l->stored == rows[n].stored);
        assert_int_equal(bits(l->group[0].O), rows[n].O);
        assert_int_equal(bits(l->group[0].L), rows[n].L);
    }
    assert_string_equal(s->digits, "1.3250707212720977912");
    assert_true(s->correct == 1.328125);
    assert_int_equal(teaching.scene.moments, 87 + 2);
}

/* Other backends and numbers of SMs, as keys and slider give them. */
static void test_changes(void **state)
{
    struct scene xqa, trtllm, moved;
    struct message why;
    (void)state;
    const struct scene_kind *kind = teaching.scene.kind;
    assert_true(kind->change(&teaching.scene, 0, 2, 0, &xqa, &why));
    assert_int_equal(story_of(&xqa)->lane[0].groups, 33);
    assert_int_equal(story_of(&xqa)->lane[2].groups, 47);
    assert_int_equal(story_of(&xqa)->lane[0].plan.order, GROUPS_ROUND_ROBIN);
    assert_int_equal(bits(story_of(&xqa)->lane[2].before) >> 8, 0x3FA97B8F >> 8);
    kind->close(&xqa);
    assert_true(kind->change(&teaching.scene, 0, -1, 0, &trtllm, &why));
    assert_int_equal(story_of(&trtllm)->lane[1].groups, 216);
    assert_int_equal(bits(story_of(&trtllm)->lane[1].before), 0x3FA97CB3);
    kind->close(&trtllm);
    assert_true(kind->change(&teaching.scene, 1, 0, (148 - 8) / 248.0, &moved, &why));
    assert_int_equal(story_of(&moved)->lane[0].groups, 62);
    assert_int_equal(bits(story_of(&moved)->lane[0].before), 0x3FA98218);
    assert_string_equal(story_of(&moved)->lane[0].name, "B200");
    struct scene third;
    assert_true(kind->change(&teaching.scene, 3, 1, 0, &third, &why));
    assert_int_equal(story_of(&third)->lane[2].sms, 189);
    assert_int_equal(story_of(&third)->lane[0].sms, 132);
    kind->close(&third);
    struct frame_state at = frame_start();
    at.look.time = 3;
    char *command = view_command(&teaching.view, &moved, &at);
    assert_string_equal(command, "flashulp view h200-b200 --option backend=fa2 "
                                 "--live SMs-of-A=148 --scene decode --at 3");
    free(command);
    kind->close(&moved);
}

/* The strips as they are drawn: left edges of lane n's pieces. */
static int edges(const struct scene *s, int n, double *edge, int most)
{
    struct drawing d = {0};
    struct frame_state f = frame_start();
    int count = 0;
    frame_draw(s, &f, FRAME_WIDTH, FRAME_HEIGHT, &d);
    for (int i = 0; i < d.count && count < most; i++)
        if (d.shape[i].what >> 19 == 1 && (d.shape[i].what & 7) == n &&
            d.shape[i].kind == SHAPE_RECT)
            edge[count++] = d.shape[i].x;
    drawing_free(&d);
    return count;
}

/* A slider's new boundaries are drawn before anything is run, as the run draws them later; the
   numbers stay, and it is said; letting go of it brings the old ones back. */
static void test_preview(void **state)
{
    enum { MOST = 256 };
    struct view_case c;
    struct scene moved;
    struct message why;
    struct parameter p[PARAMETER_MOST];
    double before[MOST], ahead[MOST], after[MOST];
    const struct scene_kind *kind = teaching.scene.kind;
    (void)state;
    assert_true(case_open(&c, "--scene decode", &why));
    assert_int_equal(edges(&c.scene, 0, before, MOST), 54);
    kind->preview(&c.scene, 1, 0, (148 - 8) / 248.0);
    assert_int_equal(edges(&c.scene, 0, ahead, MOST), 62);
    assert_int_equal(edges(&c.scene, 1, after, MOST), 62);
    kind->parameters(&c.scene, p);
    assert_string_equal(p[1].value, "148");
    assert_int_equal(story_of(&c.scene)->lane[0].groups, 54);
    char *text = view_description(&c.scene, 3);
    assert_non_null(strstr(text, "A being recomputed for 148 SMs, 62 groups\n"));
    free(text);
    assert_true(kind->change(&c.scene, 1, 0, (148 - 8) / 248.0, &moved, &why));
    assert_int_equal(edges(&moved, 0, after, MOST), 62);
    assert_memory_equal(ahead, after, 62 * sizeof *ahead);
    kind->preview(&c.scene, 1, 1, 0); /* from where the slider is */
    kind->parameters(&c.scene, p);
    assert_string_equal(p[1].value, "149");
    kind->preview(&c.scene, 0, -1, 0);
    assert_int_equal(edges(&c.scene, 0, ahead, MOST), 216);
    kind->preview(&c.scene, -1, 0, 0);
    assert_int_equal(edges(&c.scene, 0, after, MOST), 54);
    assert_memory_equal(before, after, 54 * sizeof *before);
    kind->close(&moved);
    case_close(&c);
}

/* The line that follows the merge ends where the run did, whatever a backend's records are; a group's
   mark stands over its tokens. */
static void test_merge(void **state)
{
    (void)state;
    for (int backend = 0; backend < BACKEND_COUNT; backend++) {
        struct view_case c = teaching;
        struct message why;
        if (backend > 0)
            assert_true(
                teaching.scene.kind->change(&teaching.scene, 0, backend, 0, &c.scene, &why));
        const struct decode_view *v = c.scene.story;
        for (int n = 0; n < 3; n++) {
            const struct decode_lane *l = &v->story.lane[n];
            double merged = decode_merged(v, n, l->groups);
            if (fabs(merged - l->before) > 2e-6 * fabs(l->before))
                fail_msg("backend %d, lane %d: %.17g, not %.17g", backend, n, merged, l->before);
        }
        if (backend > 0)
            c.scene.kind->close(&c.scene);
    }
}

static void test_marks(void **state)
{
    enum { MOST = 256 };
    struct drawing d = {0};
    double edge[MOST + 1];
    const struct decode_lane *l = &story_of(&teaching.scene)->lane[1];
    (void)state;
    edges(&teaching.scene, 1, edge, MOST);
    edge[l->groups] = 1e9;
    case_draw(&teaching, teaching.scene.moments, &d);
    int seen = 0;
    for (int i = 0; i < d.count; i++) {
        const struct shape *s = &d.shape[i];
        if (s->kind != SHAPE_MARK || s->what >> 19 != 1 || (s->what & 7) != 1)
            continue;
        int g = s->what >> 3 & 0xFFFF;
        assert_true(s->x > edge[g] && s->x < edge[g + 1]);
        seen++;
    }
    assert_int_equal(seen, l->groups);
    drawing_free(&d);
}

static void test_no_faults(void **state)
{
    static const double times[] = {0, 0.5, 30, 54, 87, 88, 89};
    struct drawing d = {0};
    struct message which;
    (void)state;
    for (int backend = 0; backend < BACKEND_COUNT; backend++) {
        struct view_case c = teaching;
        if (backend > 0)
            assert_true(
                teaching.scene.kind->change(&teaching.scene, 0, backend, 0, &c.scene, &which));
        for (size_t n = 0; n < sizeof times / sizeof times[0]; n++) {
            case_draw(&c, fmin(times[n], c.scene.moments), &d);
            if (drawing_fault(&d, &which))
                fail_msg("backend %d, time %g: %s", backend, times[n], which.text);
        }
        if (backend > 0)
            c.scene.kind->close(&c.scene);
    }
    drawing_free(&d);
}

static void test_refusals(void **state)
{
    static const char *const rows[][2] = {
        {"--scene decode h200-b200 --device H200,B200,A100,T4", "--device"},
        {"--scene decode minilm-4", "the decode scene is about one query, and a column below 32; "
                                    "there are 172 queries"},
        {"--scene decode h200-b200 --dims 256", "the decode scene is about one query"},
        {"--scene decode h200-b200 --option backend=x", "--option"}};
    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct view_case c;
        struct message why;
        assert_false(case_open(&c, rows[n][0], &why));
        if (strstr(why.text, rows[n][1]) == NULL)
            fail_msg("%s: %s", rows[n][0], why.text);
        view_free(&c.view);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_teaching_table), cmocka_unit_test(test_changes),
        cmocka_unit_test(test_preview),        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_marks),          cmocka_unit_test(test_no_faults),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
