/* scene.h: what every scene offers the frame around it (frame.h) and the program: its moments, what
   is true between them, how that looks, what it says.

   Time is a number of moments: at n the first n steps are done, between n and n + 1 step n + 1
   (from 1) is under way.  A scene draws in its stage, in units; the frame draws the rest.  Nothing
   here knows a pixel, a window or a clock. */
#ifndef FLASHULP_VISUALIZE_SCENE_H
#define FLASHULP_VISUALIZE_SCENE_H

#include "simulator/scenario.h"
#include "visualize/draw.h"

enum scene_id {
#define SCENE(id, ...) SCENE_##id,
#include "visualize/scenes.def"
#undef SCENE
    SCENE_COUNT
};

enum moment_mark {
    MOMENT_RESCALE = 1, /* what was summed is rescaled */
    MOMENT_PARTED = 2,  /* here two runs hold different bits for the first time */
    MOMENT_ROUNDED = 4, /* here a run leaves the exact one for the first time */
    MOMENT_CHAPTER = 8, /* a tile, a group, a wave begins */
    MOMENT_CONFLICT = 16, /* lanes of a warp want one bank */
    MOMENT_FOUND = 32     /* the emulator found something wrong */
};

/* Step n in words. */
struct moment_words {
    char step[24], equation[64], where[64];
    char meaning[200];
    char numbers[200]; /* the equation with its numbers, or "" */
    struct source_line {
        char letter; /* of the run, '*': of all, 0: none */
        const char *file;
        int first, last; /* lines, from 1; last 0: not known */
    } source[2];
};

/* A number under the pointer, or something else, which is told in words. */
struct inspection {
    char name[80];
    bool in_words;
    char words[3][96]; /* then */
    double value, exact[2];
    bool has_exact;
    enum format format; /* that holds the value */
    enum format ulps;   /* that its drift is counted in */
};

/* What a reader may change while looking. */
struct parameter {
    const char *name;
    char value[32];
    bool slider;
    double place; /* of the slider, 0 to 1 */
};
enum { PARAMETER_MOST = 6 };

struct look {
    double time;
    int hovered, pinned; /* shape.what; 0: nothing */
    bool large;          /* double type: fewer things */
};

struct scene {
    enum scene_id id;
    const struct scene_kind *kind;
    char title[120], subtitle[160];
    int moments;
    void *story;
};

struct scene_kind {
    /* From what the command line says, or a recorded trace, which it takes over (NULL: none). */
    bool (*open)(struct scene *s, const struct scenario *scenario, struct trace *trace,
                 struct message *why);
    void (*close)(struct scene *s);
    unsigned (*marks)(const struct scene *s, int moment); /* of step moment + 1 */
    void (*words)(const struct scene *s, int moment, struct moment_words *w);
    void (*draw)(const struct scene *s, const struct look *look, struct box stage,
                 struct drawing *d);
    void (*describe)(const struct scene *s, double time, char **text);
    bool (*inspect)(const struct scene *s, int what, int time, struct inspection *i);
    int (*parameters)(const struct scene *s, struct parameter p[PARAMETER_MOST]);
    /* Another scene, with the parameter a step down (-1) or up (1), or at a place of its slider
       (direction 0); the old one stays as it is.  False: refused, nothing is made. */
    bool (*change)(const struct scene *s, int parameter, int direction, double place,
                   struct scene *changed, struct message *why);
    /* What can be shown of a change at once, while `change` computes it; NULL: nothing.  It touches
       nothing that `change` reads: both may run at a time.  parameter -1: the change came to
       nothing. */
    void (*preview)(struct scene *s, int parameter, int direction, double place);
    /* Words that a command wants beside the scenario's, to show the scene as it is now. */
    void (*arguments)(const struct scene *s, char **text);
};
#define SCENE(id, name, kind, ...) extern const struct scene_kind kind;
#include "visualize/scenes.def"
#undef SCENE

struct scene_info {
    const char *name;
    const struct scene_kind *kind;
    const char *problem, *meaning; /* problem: words of a command line */
};
const struct scene_info *scene_info(enum scene_id id);
bool scene_from_name(const char *name, enum scene_id *id, struct message *why);

/* x in at most eight significant digits; a drift as "+0.31"; "0". */
struct words {
    char text[40];
};
struct words number_words(double x);
struct words drift_words(double ulps);
/* (value - exact) in ulps of f; NaN where they are of different kinds. */
double drift_in(enum format f, double value, const double exact[2]);
/* f if it holds x, else the narrowest of fp32 and fp64 that does. */
enum format format_holding(enum format f, double x);

#endif
