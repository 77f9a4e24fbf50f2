/* test_view_launch.c: the scenes tiles, machine and warps: published counts, and frames without a
   fault. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/view_case.h"

static void opened(struct view_case *c, const char *words)
{
    struct message why;
    if (!case_open(c, words, &why))
        fail_msg("%s: %s", words, why.text);
}

/* What a scene says at a time has these lines. */
static void test_words(void **state)
{
    static const struct {
        const char *words;
        double time;
        const char *line;
    } rows[] = {
        {"--scene tiles", 8, "A fa1: 8 of 72 cells, step 8 of 72\n"},
        {"--scene tiles", 8, "B fa2: 52 of 72 cells, step 8 of 16\n"},
        {"--scene tiles", 72, "A fa1: 72 of 72 cells, step 72 of 72\n"},
        {"--scene tiles", 0, "the mask skips 56 cells, cuts 16, leaves 56 whole\n"},
        {"--scene tiles --shape 1,1,1,512,512,64 --tile 64,64", 64, "A fa1: 64 of 64 cells"},
        {"--scene tiles --shape 1,1,1,512,512,64 --tile 64,64 --causal", 8,
         "B fa2: 36 of 36 cells"},
        {"--do ones --shape 1,1,1,512,512,64", 2, "B backward: 16 of 32 cells, step 2 of 4\n"},
        {"--do ones --scene machine", 60, "B backward: 2,048 blocks, a column block each"},
        {"--scene machine", 60,
         "A fa1: 32 blocks, a head each; 0.2963 waves of 108; 32 of 108 SMs"},
        {"--scene machine", 60, "B fa2: 2,048 blocks, a row block each; 18.96 waves of 108"},
        {"--scene machine", 10, "30 % of the SMs work"},
        {"--scene machine --device H200", 60, "waves of 132"},
        {"--scene warps", 4,
         "A splitk: 40,960 bytes of Q, K, V loaded, 135,168 bytes of partial "
         "results written and 147,456 read, 6 barriers, at 4 of them"},
        {"--scene warps", 4,
         "B splitq: 40,960 bytes of Q, K, V loaded, 0 bytes of partial results "
         "written and 0 read, 3 barriers, at 0 of them"},
        {"--scene warps --warps 1", 4, "3 barriers, at 0 of them a warp"}};
    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct view_case c;
        opened(&c, rows[n].words);
        char *text = view_description(&c.scene, rows[n].time);
        if (strstr(text, rows[n].line) == NULL)
            fail_msg("flashulp view %s --at %g --describe has no %s:\n%s", rows[n].words,
                     rows[n].time, rows[n].line, text);
        free(text);
        case_close(&c);
    }
}

static void check_frames(const struct view_case *c, const struct scene *s, const char *what)
{
    struct drawing d = {0};
    struct message which;
    for (int n = 0; n <= 4; n++) {
        struct frame_state f = frame_start();
        f.look.time = s->moments * n / 4.0;
        frame_draw(s, &f, FRAME_WIDTH, FRAME_HEIGHT, &d);
        if (drawing_fault(&d, &which))
            fail_msg("%s, time %g: %s", what, f.look.time, which.text);
    }
    (void)c;
    drawing_free(&d);
}

/* Every parameter, both ways; the copied command opens the same scene again. */
static void test_parameters(void **state)
{
    static const char *const words[] = {"--scene tiles", "--scene machine", "--scene warps",
                                        "--do ones", "--do ones --scene machine"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct view_case c, again;
        struct parameter p[PARAMETER_MOST];
        struct message why;
        opened(&c, words[i]);
        check_frames(&c, &c.scene, words[i]);
        int count = c.scene.kind->parameters(&c.scene, p);
        for (int n = 0; n < count; n++)
            for (int direction = -1; direction <= 1; direction += 2) {
                struct scene changed;
                if (!c.scene.kind->change(&c.scene, n, direction, 0, &changed, &why))
                    fail_msg("%s, parameter %d: %s", words[i], n, why.text);
                check_frames(&c, &changed, words[i]);
                changed.kind->close(&changed);
            }
        struct frame_state at = frame_start();
        at.look.time = 4;
        char *command = view_command(&c.view, &c.scene, &at);
        opened(&again, command + strlen("flashulp view "));
        char *a = view_description(&c.scene, 4), *b = view_description(&again.scene, 4);
        assert_string_equal(a, b);
        free(a);
        free(b);
        free(command);
        case_close(&again);
        case_close(&c);
    }
}

/* What is said of a cell, and of an SM, and how it changes in time. */
static void test_inspection(void **state)
{
    static const struct {
        const char *words;
        int what, time;
        const char *name, *first, *second;
    } rows[] = {{"--scene tiles", 1, 0, "A: query tile 0, key tile 0",
                 "masked: some pairs are seen", "step 1 of 72"},
                {"--scene tiles", 1, 1, "A: query tile 0, key tile 0",
                 "masked: some pairs are seen", "step 1 of 72, done"},
                {"--scene tiles", 3, 1, "A: query tile 0, key tile 2",
                 "skipped: the mask leaves no pair", ""},
                {"--scene tiles", 17, 1, "A: query tile 1, key tile 0", "plain: every pair is seen",
                 "step 2 of 72"},
                {"--scene tiles", 128 + 17, 4, "B: query tile 1, key tile 0",
                 "plain: every pair is seen", "step 4 of 16, done"},
                {"--scene machine", 1, 30, "A, SM 0",
                 "works 100 % of the time so far, 100 % in all", "1 block at a time; now works"},
                {"--scene machine", 33, 30, "A, SM 32", "works 0 % of the time so far, 0 % in all",
                 "1 block at a time; now idle"},
                {"--scene machine --live blocks-an-SM=2", 512 + 108, 60, "B, SM 107",
                 "works 28 % of the time so far, 91 % in all", "2 blocks at a time; now idle"}};
    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct view_case c;
        struct inspection i;
        opened(&c, rows[n].words);
        assert_true(c.scene.kind->inspect(&c.scene, rows[n].what, rows[n].time, &i));
        assert_true(i.in_words);
        assert_string_equal(i.name, rows[n].name);
        assert_string_equal(i.words[0], rows[n].first);
        assert_string_equal(i.words[1], rows[n].second);
        assert_false(c.scene.kind->inspect(&c.scene, 0, rows[n].time, &i));
        case_close(&c);
    }
}

/* Every cell that is computed has its step written in it. */
static void test_numbered(void **state)
{
    struct view_case c;
    struct drawing d = {0};
    int count[73] = {0};
    (void)state;
    opened(&c, "--scene tiles");
    case_draw(&c, 0, &d);
    for (int n = 0; n < d.count; n++) {
        const struct shape *s = &d.shape[n];
        if (s->kind == SHAPE_TEXT && s->what > 0 && s->what <= 128)
            count[atoi(drawing_text(&d, s))]++;
    }
    for (int n = 1; n <= 72; n++)
        assert_int_equal(count[n], 1);
    drawing_free(&d);
    case_close(&c);
}

static void test_refusals(void **state)
{
    static const char *const rows[][2] = {
        {"--scene tiles --shape 1,1,1,1048576,1048576,64", "are too many to draw"},
        {"--scene tiles --shape 1,3,2,64,64,64", "--shape: Hq is a multiple of Hkv; 3 is not of 2"},
        {"--scene tiles --shape 1,2,2,64,64", "--shape 1,2,2,64,64: B,Hq,Hkv,Nq,Nk,D"},
        {"--scene warps --do ones",
         "--do: the warps scene shows the forward pass; tiles and machine show the backward pass's "
         "blocks, flashulp walk --do its steps"},
        {"--scene machine --device X100", "X100"},
        {"--scene machine --tile 0,64", "--tile 0,64"}};
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
        cmocka_unit_test(test_words), cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_inspection), cmocka_unit_test(test_numbered),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
