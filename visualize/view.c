/* view.c: what `flashulp-view` was asked for, scenes opened, commands that give them again; see
   view.h. */
#include "visualize/view.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/data.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"
#include "visualize/raster.h"
#include "visualize/scene_parts.h"

static bool read_size(struct view *v, struct message *why)
{
    const char *text = v->scenario.value[OPTION_SIZE];
    char end;
    v->width = FRAME_WIDTH;
    v->height = FRAME_HEIGHT;
    if (text == NULL)
        return true;
    if (sscanf(text, "%dx%d%c", &v->width, &v->height, &end) == 2 && v->width >= 320 &&
        v->height >= 180 && v->width <= IMAGE_LARGEST && v->height <= IMAGE_LARGEST)
        return true;
    return refuse(why, "--size %.40s: WIDTHxHEIGHT in pixels, 320x180 to %dx%d, is right", text,
                  IMAGE_LARGEST, IMAGE_LARGEST);
}

static bool read_frame(struct view *v, struct message *why)
{
    const char *zoom = v->scenario.value[OPTION_ZOOM], *pin = v->scenario.value[OPTION_PIN];
    struct frame_state *f = &v->frame;
    int64_t pinned = 0;
    char end;
    *f = frame_start();
    if (zoom != NULL && (sscanf(zoom, "%lf,%lf,%lf%c", &f->zoom, &f->pan_x, &f->pan_y, &end) != 3 ||
                         !(f->zoom >= FRAME_ZOOM_LEAST && f->zoom <= FRAME_ZOOM_MOST) ||
                         !(fabs(f->pan_x) <= 1e6) || !(fabs(f->pan_y) <= 1e6)))
        return refuse(why, "--zoom %.40s: Z,X,Y with Z from %g to %g is right", zoom,
                      FRAME_ZOOM_LEAST, FRAME_ZOOM_MOST);
    if (pin != NULL && !parse_integer("--pin", pin, 1, FRAME_TRACK - 1, &pinned, why))
        return false;
    f->look.pinned = (int)pinned;
    return true;
}

/* --render is -o. */
static void join_outputs(struct scenario *s)
{
    if (s->value[OPTION_RENDER] == NULL)
        return;
    text_append(&s->value[OPTION_OUTPUT], "%s%s", s->value[OPTION_OUTPUT] != NULL ? "\n" : "",
                s->value[OPTION_RENDER]);
    s->given[OPTION_OUTPUT] = true;
    free(s->value[OPTION_RENDER]);
    s->value[OPTION_RENDER] = NULL;
    s->given[OPTION_RENDER] = false;
}

static bool has_problem(const struct scenario *s)
{
    return s->problem != NULL || s->given[OPTION_SCORES] || s->given[OPTION_GENERATE] ||
           s->given[OPTION_SHAPE] || s->given[OPTION_Q];
}

/* The words of a scene's own problem, as if they were the command line. */
static bool read_own(struct scenario *own, enum scene_id id, struct message *why)
{
    char copy[160], *argv[24], *rest = copy;
    int argc = 0;
    const struct command_info *info = command_info(COMMAND_VIEW);
    snprintf(copy, sizeof copy, "%s", scene_info(id)->problem);
    while (argc < 24 && *(rest += strspn(rest, " ")) != 0) {
        argv[argc++] = rest;
        rest += strcspn(rest, " ");
        if (*rest != 0)
            *rest++ = 0;
    }
    return scenario_parse(own, info->name, info->groups, argc, argv, why);
}

/* What the command line does not say comes from the scene's own problem. */
static void take_own(struct scenario *s, struct scenario *own)
{
    s->problem = own->problem;
    own->problem = NULL;
    for (int o = 0; o < OPTION_COUNT; o++)
        if (own->given[o] && !s->given[o]) {
            s->value[o] = own->value[o];
            s->given[o] = true;
            own->value[o] = NULL;
        }
}

/* A name without a folder that is not here is looked for among the data; malloc'ed. */
static char *shipped_or_here(const char *path)
{
    struct message why;
    char *shipped = NULL;
    if (strchr(path, '/') == NULL && access(path, F_OK) != 0)
        shipped = data_file(path, &why);
    return shipped != NULL ? shipped : strdup(path);
}

struct trace *view_trace(const char *path, struct message *why)
{
    char *found = shipped_or_here(path);
    struct trace *t = found != NULL ? trace_read(found, why) : NULL;
    if (found == NULL)
        refuse(why, "no memory");
    free(found);
    return t;
}

/* Does a file say that it holds what lanes did?  Nothing else of it is judged here. */
static bool holds_lanes(const char *path)
{
    unsigned char head[12];
    char *found = shipped_or_here(path);
    FILE *in = found != NULL ? fopen(found, "rb") : NULL;
    bool lanes = false;
    free(found);
    if (in == NULL)
        return false;
    for (long at = 16; !lanes && fseek(in, at, SEEK_SET) == 0 && fread(head, 12, 1, in) == 1;) {
        uint64_t length = 0;
        for (int i = 0; i < 8; i++)
            length |= (uint64_t)head[4 + i] << 8 * i;
        lanes = memcmp(head, "LANE", 4) == 0;
        if (length > LONG_MAX / 2 || at > LONG_MAX / 2)
            break;
        at += 16 + (long)length;
    }
    fclose(in);
    return lanes;
}

/* --do: a scene that shows the backward pass. */
static bool read_backward(struct view *v, struct message *why)
{
    if (v->scenario.value[OPTION_SCENE] == NULL)
        v->scene = SCENE_TILES;
    return v->scene == SCENE_TILES || v->scene == SCENE_MACHINE ||
           refuse(why,
                  "--do: the %s scene shows the forward pass; tiles and machine show the backward "
                  "pass's blocks, flashulp walk --do its steps",
                  scene_info(v->scene)->name);
}

bool view_read(struct view *v, struct message *why)
{
    const char *scene = v->scenario.value[OPTION_SCENE], *theme = v->scenario.value[OPTION_THEME];
    v->scene = SCENE_SOFTMAX;
    v->theme = THEME_LIGHT;
    if ((scene != NULL && !scene_from_name(scene, &v->scene, why)) ||
        (theme != NULL && !theme_from_name(theme, &v->theme, why)) || !read_size(v, why) ||
        !read_frame(v, why))
        return false;
    v->frame.look.large = v->theme == THEME_PROJECTOR;
    if (v->scenario.given[OPTION_DO] && !read_backward(v, why))
        return false;
    join_outputs(&v->scenario);
    for (int id = 0; id < SCENE_COUNT; id++)
        if (!read_own(&v->own[id], (enum scene_id)id, why))
            return false;
    if (!has_problem(&v->scenario))
        take_own(&v->scenario, &v->own[v->scene]);
    if (ends_with(v->scenario.problem != NULL ? v->scenario.problem : "", ".trace"))
        v->path = v->scenario.problem;
    if (v->path != NULL && scene == NULL && holds_lanes(v->path))
        v->scene = SCENE_WARPS;
    return true;
}

void view_free(struct view *v)
{
    scenario_free(&v->scenario);
    for (int id = 0; id < SCENE_COUNT; id++)
        scenario_free(&v->own[id]);
}

/* What is about the view, not about what is viewed. */
static void drop_own_options(struct scenario *s)
{
    for (int o = 0; o < OPTION_COUNT; o++)
        if (option_info((enum option)o)->groups & (GROUP_VIEW | GROUP_REPORT)) {
            s->value[o] = NULL;
            s->given[o] = false;
        }
}

bool view_open(const struct view *v, enum scene_id id, struct scene *s, struct message *why)
{
    struct scenario own = id == v->scene ? v->scenario : v->own[id];
    struct trace *t = NULL;
    *s = (struct scene){.id = id, .kind = scene_info(id)->kind};
    if (id == v->scene && v->path != NULL && (t = view_trace(v->path, why)) == NULL)
        return false;
    if (t != NULL && trace_count(t) == 0 && id != SCENE_WARPS && holds_lanes(v->path)) {
        trace_free(t);
        return refuse(why, "%.300s: it says what lanes did; the warps scene shows that", v->path);
    }
    drop_own_options(&own);
    if (s->kind->open(s, &own, t, why)) {
        if (live_shown(s, &own, why))
            return true;
        s->kind->close(s);
        return false;
    }
    if (t != NULL) {
        struct message inner = *why;
        refuse(why, "%.300s: %s", v->path, inner.text);
    }
    return false;
}

char *view_command(const struct view *v, const struct scene *s, const struct frame_state *f)
{
    char *text = NULL;
    s->kind->arguments(s, &text);
    text_append(&text, " --scene %s --at %s", scene_info(s->id)->name,
                number_text(FORMAT_FP64, f->look.time).text);
    if (f->look.pinned != 0)
        text_append(&text, " --pin %d", f->look.pinned);
    if (f->zoom != 1 || f->pan_x != 0 || f->pan_y != 0)
        text_append(&text, " --zoom %s,%s,%s", number_text(FORMAT_FP64, f->zoom).text,
                    number_text(FORMAT_FP64, f->pan_x).text,
                    number_text(FORMAT_FP64, f->pan_y).text);
    if (v->theme != THEME_LIGHT)
        text_append(&text, " --theme %s", theme_name(v->theme));
    if (v->width != FRAME_WIDTH || v->height != FRAME_HEIGHT)
        text_append(&text, " --size %dx%d", v->width, v->height);
    return text;
}

void view_units(int width, int height, double *units_wide, double *units_high)
{
    double scale = fmin((double)width / FRAME_WIDTH, (double)height / FRAME_HEIGHT);
    *units_wide = width / scale;
    *units_high = height / scale;
}

char *view_description(const struct scene *s, double time)
{
    char *text = NULL;
    s->kind->describe(s, time, &text);
    return text;
}
