/* test_view_copied.c: the command that C copies shows the same pixels, in every scene, whatever was
   changed, pinned, zoomed or themed before; what --live, --pin and --zoom refuse. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/view_case.h"
#include "visualize/picture.h"
#include "visualize/raster.h"

/* A command's words behind "flashulp view", quoted ones too; returns how many. */
static int words_of(char *command, char **argv)
{
    int argc = 0;
    char *from = command + strlen("flashulp view"), *to;
    while (*(from += strspn(from, " ")) != 0) {
        argv[argc++] = to = from;
        bool quoted = false;
        for (; *from != 0 && (quoted || *from != ' '); from++)
            if (*from == '\'')
                quoted = !quoted;
            else
                *to++ = *from;
        from += *from != 0;
        *to = 0;
    }
    return argc;
}

static void reopened(struct view_case *c, char *command, double *time)
{
    char *argv[64];
    struct message why;
    const struct command_info *info = command_info(COMMAND_VIEW);
    *c = (struct view_case){{.width = FRAME_WIDTH}, {.moments = 0}};
    if (!scenario_parse(&c->view.scenario, info->name, info->groups, words_of(command, argv), argv,
                        &why) ||
        !view_read(&c->view, &why) || !view_open(&c->view, c->view.scene, &c->scene, &why) ||
        !frame_at(&c->scene, c->view.scenario.value[OPTION_AT], time, &why))
        fail_msg("the copied command: %s", why.text);
}

static uint64_t pixels(const struct view *v, const struct scene *s, const struct frame_state *f)
{
    struct message why;
    struct image image;
    char path[64];
    snprintf(path, sizeof path, "/tmp/flashulp-copied-%ld.png", (long)getpid());
    if (!view_picture(v, s, f, path, true, &why) || !png_read(path, &image, &why))
        fail_msg("%s", why.text);
    uint64_t digest = image_digest(&image);
    image_free(&image);
    unlink(path);
    return digest;
}

/* The view as it stands, against the view that its command opens. */
static void check(const struct view *v, const struct scene *s, const struct frame_state *f)
{
    struct view_case again;
    char *command = view_command(v, s, f), *shown = strdup(command);
    uint64_t wanted = pixels(v, s, f);
    double time;
    reopened(&again, command, &time);
    struct frame_state same = again.view.frame;
    same.look.time = time;
    if (pixels(&again.view, &again.scene, &same) != wanted)
        fail_msg("other pixels: %s", shown);
    case_close(&again);
    free(command);
    free(shown);
}

static const struct {
    const char *words;
    int parameters[PARAMETER_MOST]; /* to be changed; -1: no more */
    int pinned;
} rows[] = {{"--scene softmax fa2-4", {0, 1, 2, -1}, (1 << 24) + 1},
            {"--scene softmax --generate gaussian --shape 1,1,1,3,9,4 --rows 2", {1, -1}, 0},
            {"--scene decode", {0, 1, 3, -1}, 1 << 22},
            {"--scene tiles", {0, 1, 2, 3, -1}, 7},
            {"--scene machine", {0, 1, 2, 3, 4, -1}, 0},
            {"--scene divergence --shape 1,4,1,1,200,128 --generate gaussian --dtype bf16",
             {0, 1, -1},
             100},
            {"--scene warps", {0, -1}, 0}};

static void test_scenes(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct view_case c;
        struct message why;
        struct frame_state f = frame_start();
        if (!case_open(&c, rows[n].words, &why))
            fail_msg("%s: %s", rows[n].words, why.text);
        f.look.time = c.scene.moments / 3 + 0.3;
        f.look.pinned = rows[n].pinned;
        check(&c.view, &c.scene, &f);
        for (int k = 0; rows[n].parameters[k] >= 0; k++)
            for (int way = -1; way <= 1; way += 2) {
                struct scene changed;
                struct parameter before[PARAMETER_MOST], after[PARAMETER_MOST];
                if (!c.scene.kind->change(&c.scene, rows[n].parameters[k], way, 0, &changed, &why))
                    fail_msg("%s: %s", rows[n].words, why.text);
                c.scene.kind->parameters(&c.scene, before);
                changed.kind->parameters(&changed, after);
                assert_string_not_equal(before[rows[n].parameters[k]].value,
                                        after[rows[n].parameters[k]].value);
                f.look.time = changed.moments / 2;
                check(&c.view, &changed, &f);
                changed.kind->close(&changed);
            }
        case_close(&c);
    }
}

/* Two changes, one on the other; a theme, a size, a zoom. */
static void test_looks(void **state)
{
    struct view_case c;
    struct scene one, two;
    struct message why;
    struct frame_state f = frame_start();
    (void)state;
    assert_true(case_open(&c, "--scene machine --theme dark --size 1000x700", &why));
    const struct scene_kind *kind = c.scene.kind;
    assert_true(kind->change(&c.scene, 4, 1, 0, &one, &why));
    assert_true(kind->change(&one, 0, 1, 0, &two, &why));
    f.zoom = 1.25 * 1.25;
    f.pan_x = -33.3;
    f.pan_y = 1.0 / 3;
    f.look.time = 1.0 / 3;
    check(&c.view, &two, &f);
    char *command = view_command(&c.view, &two, &f);
    assert_non_null(strstr(command, " --live launch-B=backward --live blocks-an-SM=2 "));
    free(command);
    kind->close(&one);
    kind->close(&two);
    case_close(&c);
}

static void test_refusals(void **state)
{
    static const char *const refused[][2] = {
        {"--scene machine --live launch-B=fa9",
         "--live launch-B=fa9: fa2 is what the scene shows; another value, or the option of "
         "that name, is right"},
        {"--scene machine --live blocks-an-SM=9",
         "--live blocks-an-SM=9: 4 is what the scene shows"},
        {"--scene machine --live speed=9",
         "--live speed=9: NAME=VALUE is right; the scene's names are launch-B, device, batch, "
         "causal, blocks-an-SM"},
        {"--scene machine --live launch-B", "--live launch-B: NAME=VALUE is right"},
        {"--scene decode --live SMs-of-A=0", "--live SMs-of-A=0: 132 is what the scene shows"},
        {"--pin 0 fa2-4", "--pin 0"},
        {"--zoom 2 fa2-4", "--zoom 2: Z,X,Y with Z from 0.25 to 64 is right"},
        {"--zoom nan,0,0 fa2-4", "--zoom nan,0,0: Z,X,Y"}};
    (void)state;
    for (size_t n = 0; n < sizeof refused / sizeof refused[0]; n++) {
        struct view_case c;
        struct message why;
        assert_false(case_open(&c, refused[n][0], &why));
        if (strstr(why.text, refused[n][1]) == NULL)
            fail_msg("%s: %s", refused[n][0], why.text);
        scenario_free(&c.view.scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenes), cmocka_unit_test(test_looks),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
