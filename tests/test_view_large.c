/* test_view_large.c: the projector theme: every scene in double type, nothing that leaves the
   picture or meets another text, at every step; pointer and scrub bar where they are drawn. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/view_case.h"
#include "visualize/control.h"

static const char *const views[] = {
    "fa2-4",
    "fa2-4 --policy gpu-bf16",
    "--scene decode",
    "h200-b200 --scene decode --device A100,H200",
    "--scene tiles",
    "--scene divergence --shape 1,1,1,9,40,8 --generate gaussian",
    "--scene divergence --shape 1,4,1,1,200,128 --generate gaussian "
    "--dtype bf16 --live page=sites",
    "--scene divergence --shape 1,4,1,1,200,128 --generate gaussian "
    "--dtype bf16 --live page=map",
    "--do ones --shape 1,1,1,512,512,64",
    "--scene machine",
    "--scene warps",
    "--scene warps --warps 8",
    "lanes.trace"};
enum { VIEWS = sizeof views / sizeof views[0] };

static void opened(struct view_case *c, const char *words)
{
    char all[200];
    struct message why;
    snprintf(all, sizeof all, "%s --theme projector", words);
    if (!case_open(c, all, &why))
        fail_msg("flashulp view %s: %s", all, why.text);
    assert_true(c->view.frame.look.large);
}

/* The smallest type anywhere is twice what a label has elsewhere, but for a name that is fitted. */
static void check_type(const struct drawing *d, const char *what, double time)
{
    for (int n = 0; n < d->count; n++)
        if (d->shape[n].kind == SHAPE_TEXT && d->shape[n].size < 16)
            fail_msg("%s, time %g: \"%s\" is written at %g", what, time,
                     drawing_text(d, &d->shape[n]), d->shape[n].size);
}

static void check_frame(const struct view_case *c, struct frame_state f, int wide, const char *what)
{
    struct drawing d = {0};
    struct message which;
    frame_draw(&c->scene, &f, FRAME_WIDTH + 320 * wide, FRAME_HEIGHT + 80 * wide, &d);
    if (!f.help && drawing_fault(&d, &which)) /* the card of keys lies over texts */
        fail_msg("%s, time %g: %s", what, f.look.time, which.text);
    check_type(&d, what, f.look.time);
    drawing_free(&d);
}

static void test_frames(void **state)
{
    (void)state;
    for (int n = 0; n < VIEWS; n++) {
        struct view_case c;
        opened(&c, views[n]);
        int steps = c.scene.moments, stride = steps > 40 ? 3 : 1;
        for (int half = 0; half <= 2 * steps; half += stride)
            for (int wide = 0; wide < 2; wide++) {
                struct frame_state f = c.view.frame;
                f.look.time = half / 2.0;
                check_frame(&c, f, wide, views[n]);
            }
        case_close(&c);
    }
}

/* The keys' card fits, too, and lists every key. */
static void test_help(void **state)
{
    struct view_case c;
    struct drawing d = {0};
    (void)state;
    opened(&c, "fa2-4");
    struct frame_state f = c.view.frame;
    f.help = true;
    frame_draw(&c.scene, &f, FRAME_WIDTH, FRAME_HEIGHT, &d);
    int card = 0;
    for (int n = 0; n < d.count; n++) {
        struct box b = drawing_box(&d, &d.shape[n]);
        if (d.shape[n].what != FRAME_HELP)
            continue;
        card++;
        assert_true(b.x >= 0 && b.y >= 0 && b.x + b.w <= FRAME_WIDTH && b.y + b.h <= FRAME_HEIGHT);
    }
    assert_in_range(card, 40, 60);
    drawing_free(&d);
    case_close(&c);
}

/* A press at a quarter of the bar is a quarter of the time; a number under the pointer is told above
   the stage; T leads back to the small type. */
static void test_pointer(void **state)
{
    struct view_case c;
    struct control control;
    (void)state;
    opened(&c, "fa2-4");
    control_start(&control, &c.view, NULL, FRAME_WIDTH, FRAME_HEIGHT);
    control_wait(&control);
    control_draw(&control);
    double left = 2 * 84, right = FRAME_WIDTH - 2 * 24, y = FRAME_HEIGHT - 2 * 32;
    control_press(&control, left + (right - left) / 4, y);
    control_release(&control, left + (right - left) / 4, y);
    assert_true(control.frame.look.time == 4);
    control_press_key(&control, KEY_END, false);
    control_draw(&control);
    control_press_key(&control, KEY_K, false);
    const struct drawing *d = control_draw(&control);
    bool told = false;
    for (int n = 0; n < d->count; n++)
        told = told || (d->shape[n].kind == SHAPE_TEXT &&
                        strstr(drawing_text(d, &d->shape[n]), "0x") != NULL);
    assert_true(told);
    control_press_key(&control, KEY_T, false);
    control_draw(&control);
    assert_int_equal(c.view.theme, THEME_LIGHT);
    assert_false(control.frame.look.large);
    control_end(&control);
    case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_frames), cmocka_unit_test(test_help),
                                       cmocka_unit_test(test_pointer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
