/* view_case.h: scenes opened from the words of a command line, for the tests of the viewer. */
#ifndef FLASHULP_TESTS_VIEW_CASE_H
#define FLASHULP_TESTS_VIEW_CASE_H

#include <string.h>

#include "simulator/inputs.h"
#include "visualize/view.h"

struct view_case {
    struct view view;
    struct scene scene;
};

/* words: "fa2-4 --policy gpu-bf16", without quotes; false with the refusal. */
static inline bool case_open(struct view_case *c, const char *words, struct message *why)
{
    char copy[256], *argv[32];
    int argc = 0;
    inputs_register();
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, " "); word != NULL && argc < 32; word = strtok(NULL, " "))
        argv[argc++] = word;
    *c = (struct view_case){{.width = FRAME_WIDTH}, {.moments = 0}};
    const struct command_info *info = command_info(COMMAND_VIEW);
    return scenario_parse(&c->view.scenario, info->name, info->groups, argc, argv, why) &&
           view_read(&c->view, why) && view_open(&c->view, c->view.scene, &c->scene, why);
}

static inline void case_close(struct view_case *c)
{
    c->scene.kind->close(&c->scene);
    view_free(&c->view);
}

/* The frame at that time, in its smallest size. */
static inline void case_draw(const struct view_case *c, double time, struct drawing *d)
{
    struct frame_state f = frame_start();
    f.look.time = time;
    frame_draw(&c->scene, &f, FRAME_WIDTH, FRAME_HEIGHT, d);
}

#endif
