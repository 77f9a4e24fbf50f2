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
    char *command = view_command(&teaching.view, &moved, 3);
    assert_string_equal(command, "flashulp view h200-b200 --device B200,B200,RTX-PRO-6000 "
                                 "--option backend=fa2 --scene decode --at 3");
    free(command);
    kind->close(&moved);
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
        cmocka_unit_test(test_no_faults), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
