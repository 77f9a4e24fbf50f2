/* view.h: the program `flashulp-view`: what it was asked for, and the parts it is made of. */
#ifndef FLASHULP_VISUALIZE_VIEW_H
#define FLASHULP_VISUALIZE_VIEW_H

#include "visualize/frame.h"

struct view {
    struct scenario scenario;
    struct scenario own[SCENE_COUNT]; /* the scenes' own problems, for those opened by Tab */
    char *path; /* a .trace in the problem's place, or NULL */
    enum scene_id scene;
    enum theme theme;
    int width, height; /* of pictures and of the window, in pixels */
    struct frame_state frame; /* as --pin and --zoom want it at first */
    int most_frames;   /* of a scene, after which the window closes; 0: the reader closes it */
    bool failed;       /* the window closed because nothing could be opened; it was said */
};

/* Fills v from v->scenario: scene, theme, size, the default problem. */
bool view_read(struct view *v, struct message *why);
void view_free(struct view *v); /* every scene is closed: they borrow its strings */
/* Does what v->scenario says, after view_read. */
bool view_it(struct view *v, struct message *why);

/* The trace in that file; one without a folder that is not here is looked for among the data that
   come with FlashULP.  NULL: the sentence. */
struct trace *view_trace(const char *path, struct message *why);
/* Opens a scene on what the command line said, or on its own default problem where another scene
   was asked for.  It may take seconds. */
bool view_open(const struct view *v, enum scene_id id, struct scene *s, struct message *why);
/* The command that shows the scene as the frame does; malloc'ed. */
char *view_command(const struct view *v, const struct scene *s, const struct frame_state *f);
/* The frame's size in units for a picture of so many pixels. */
void view_units(int width, int height, double *units_wide, double *units_high);
/* What the scene says at that time; malloc'ed. */
char *view_description(const struct scene *s, double time);
/* A .png or .svg of the frame as it stands. */
bool view_picture(const struct view *v, const struct scene *s, const struct frame_state *f,
                  const char *path, bool force, struct message *why);

/* "flashulp-STEM.png", or with a number where that is taken. */
void view_free_name(const char *stem, char *path, size_t room);

/* The window (window.c), until it is closed.  False, before anything is shown: no display. */
bool window_run(struct view *v, struct message *why);

#endif
