/* test_view_warps.c: the warps scene: tiles shared by keys and by rows over time; what the lanes of
   the example's kernel did: its conflicts, its waits, its race at two source lines; frames without
   a text that meets another. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/view_case.h"
#include "visualize/control.h"
#include "visualize/lanes.h"

static void opened(struct view_case *c, const char *words)
{
    struct message why;
    if (!case_open(c, words, &why))
        fail_msg("flashulp view %s: %s", words, why.text);
}

static const struct {
    const char *words, *at, *line;
} told[] = {
    {"--scene warps", "end", "A splitk: 40,960 bytes of Q, K, V loaded, 135,168 bytes of partial"},
    {"--scene warps", "end", " % computing, "},
    {"--scene warps --device H200", "end", " clocks of one SM of H200, modelled; of the warps'"},
    {"lanes.trace", "end", "Lanes and banks: exchange, emulated\n"},
    {"--scene warps --live shown=lanes", "end", "Lanes and banks: exchange, emulated\n"},
    {"lanes.trace", "end", "block 0 of 1, 4 warps\n"},
    {"lanes.trace", "end", "exchange.cu:20  8 requests, 32 passes (8 at best), "},
    {"lanes.trace", "end", "exchange.cu:21  a barrier: 8 warps stood there, 115 clocks waited\n"},
    {"lanes.trace", "end", "exchange.cu:23  32 requests, 128 passes (32 at best), "},
    {"lanes.trace", "end",
     "two threads use the same memory, unordered, and one writes: warp 1, lane 0 writes at "
     "exchange.cu:20; warp 0, lane 0 read at exchange.cu:23"},
    {"lanes.trace --live block=0", "READ:1", "READ warp 0, device memory, 4 sectors, at best 4\n"},
    {"lanes.trace", "WRITE:1", " passes, at best 1\n"},
    {"lanes.trace", "BARRIER:1", "BARRIER 4 warps, __syncthreads()\n"},
};

static void test_words(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof told / sizeof told[0]; n++) {
        struct view_case c;
        struct message why;
        double time;
        opened(&c, told[n].words);
        assert_int_equal(c.scene.id, SCENE_WARPS);
        assert_true(frame_at(&c.scene, told[n].at, &time, &why));
        char *text = view_description(&c.scene, time);
        if (strstr(text, told[n].line) == NULL)
            fail_msg("flashulp view %s --at %s --describe has no %s:\n%s", told[n].words,
                     told[n].at, told[n].line, text);
        free(text);
        case_close(&c);
    }
}

/* Every step, and half of it; two shapes of window. */
static void check_frames(const struct scene *s, const char *what)
{
    struct drawing d = {0};
    struct message which;
    for (int half = 0; half <= 2 * s->moments; half++)
        for (int wide = 0; wide < 2; wide++) {
            struct frame_state f = frame_start();
            f.look.time = half / 2.0;
            frame_draw(s, &f, FRAME_WIDTH + 200 * wide, FRAME_HEIGHT + 100 * wide, &d);
            if (drawing_fault(&d, &which))
                fail_msg("%s, time %g: %s", what, f.look.time, which.text);
        }
    drawing_free(&d);
}

static void test_frames(void **state)
{
    static const char *const words[] = {
        "lanes.trace",
        "--scene warps",
        "--scene warps --warps 8",
        "--scene warps --warps 1",
        "--scene warps --generate gaussian --shape 1,1,1,16,2000,32 --dtype bf16 --tile 16,64",
        "fa2-4 --scene warps"};
    (void)state;
    for (size_t n = 0; n < sizeof words / sizeof words[0]; n++) {
        struct view_case c;
        opened(&c, words[n]);
        check_frames(&c.scene, words[n]);
        case_close(&c);
    }
}

/* From tiles to lanes and back; the copied commands open the same again. */
static void test_shown(void **state)
{
    struct view_case c, again;
    struct scene lanes, back;
    struct parameter p[PARAMETER_MOST];
    struct message why;
    (void)state;
    opened(&c, "--scene warps --warps 8");
    assert_int_equal(c.scene.kind->parameters(&c.scene, p), 3);
    assert_string_equal(p[2].name, "shown");
    assert_true(c.scene.kind->change(&c.scene, 2, 1, 0, &lanes, &why));
    assert_ptr_equal(lanes.kind, &scene_lanes);
    assert_int_equal(lanes.kind->parameters(&lanes, p), 2);
    struct frame_state at = frame_start();
    at.look.time = 3;
    char *command = view_command(&c.view, &lanes, &at);
    assert_string_equal(command, "flashulp view lanes.trace --scene warps --at 3");
    free(command);
    assert_true(lanes.kind->change(&lanes, 0, 1, 0, &back, &why)); /* there is one block */
    back.kind->close(&back);
    assert_true(lanes.kind->change(&lanes, 1, -1, 0, &back, &why));
    lanes.kind->close(&lanes);
    command = view_command(&c.view, &back, &at);
    opened(&again, command + strlen("flashulp view "));
    char *a = view_description(&c.scene, 2), *b = view_description(&again.scene, 2);
    assert_string_equal(a, b);
    free(a);
    free(b);
    free(command);
    back.kind->close(&back);
    case_close(&again);
    case_close(&c);
}

static void key(struct control *c, enum control_key k, bool shift)
{
    control_press_key(c, k, shift);
    control_wait(c);
}

/* R: conflicts, N: barriers, D: the race, whose two lines stand beside it; K: a lane in words. */
static void test_keys(void **state)
{
    struct view_case c;
    struct control control;
    struct moment_words w;
    struct inspection i;
    (void)state;
    opened(&c, "lanes.trace");
    control_start(&control, &c.view, NULL, FRAME_WIDTH, FRAME_HEIGHT);
    control_wait(&control);
    const struct scene *s = &control.scene;
    key(&control, KEY_R, false);
    int n = (int)control.frame.look.time;
    assert_true(s->kind->marks(s, n - 1) & MOMENT_CONFLICT);
    key(&control, KEY_N, false);
    n = (int)control.frame.look.time;
    s->kind->words(s, n - 1, &w);
    assert_string_equal(w.step, "BARRIER");
    assert_int_equal(w.source[0].last, 21);
    key(&control, KEY_D, false);
    n = (int)control.frame.look.time;
    s->kind->words(s, n - 1, &w);
    assert_non_null(strstr(w.meaning, "unordered"));
    assert_string_equal(w.source[0].file, "gpu/examples/exchange.cu");
    assert_string_equal(w.source[1].file, "gpu/examples/exchange.cu");
    assert_int_equal(w.source[0].last + w.source[1].last, 20 + 23);
    control_draw(&control);
    key(&control, KEY_K, false);
    assert_true(s->kind->inspect(s, control.frame.look.pinned, n, &i));
    assert_true(i.in_words);
    assert_string_equal(i.words[1], "bank 0, pass 1 of 4");
    control_end(&control);
    case_close(&c);
}

static void test_refusals(void **state)
{
    static const char *const rows[][2] = {
        {"lanes.trace --live block=7", "lanes.trace: --live block=7: the trace has blocks 0 to 0"},
        {"lanes.trace --live block=x", "--live block x"},
        {"lanes.trace --scene softmax", "lanes.trace: "},
        {"nowhere.trace --scene warps", "nowhere.trace: no such file"},
        {"--scene warps --device X100", "X100"},
        {"--scene warps --live shown=banks", "--live shown=banks: tiles is what the scene shows"}};
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_frames),
                                       cmocka_unit_test(test_shown), cmocka_unit_test(test_keys),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
