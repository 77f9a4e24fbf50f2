/* examples.h: problems that have names, and the figures an article printed for them.

   The table is examples.def.  A row may also name the algorithm, tile and faults it is about; they
   are defaults that the command line overrides. */
#ifndef FLASHULP_EXAMPLES_H
#define FLASHULP_EXAMPLES_H

#include "reference/problem.h"
#include "simulator/simulate.h"

enum example {
#define EXAMPLE(id, ...) EXAMPLE_##id,
#define CAPTURE(id, ...) EXAMPLE_##id,
#include "simulator/examples.def"
#undef EXAMPLE
#undef CAPTURE
    EXAMPLE_COUNT
};

struct example_info {
    const char *name;
    enum format dtype;           /* Q, K, V are made in it, exactly */
    const char *file;            /* a capture that data_file finds; NULL: made here */
    const char *scores, *values; /* NULL: made by `build` */
    bool (*build)(struct problem *p, struct message *why);
    /* What the example is about, in the words of the command line; NULL: the general default. */
    const char *algorithm, *tile, *fault;
    const char *meaning, *source;
};
const struct example_info *example_info(enum example e);
/* The example of that name; false, without a sentence, when there is none. */
bool example_from_name(const char *name, enum example *e);
/* For those without a file: a capture's metadata are the scenario's business. */
bool example_problem(enum example e, struct problem *p, struct message *why);

/* KV heads of the launch that the example is one head of, where its article speaks of one; else 0. */
int64_t example_launch_heads(enum example e);

/* What the article printed for one number, digit for digit.  tile counts key tiles from 0;
   -1: after the last. */
struct example_figure {
    int tile;
    enum step step;
    enum tensor_name tensor;
    int row, col;
    const char *text;
};
struct example_figures {
    enum algorithm algorithm; /* the listing they follow, key tiles ascending */
    const char *source;
    int count;
    const struct example_figure *figure;
};
/* NULL: no article printed figures for this one. */
const struct example_figures *example_figures(enum example e);
/* The figure printed for that number, or NULL. */
const char *example_figure(const struct example_figures *f, int tile, enum step step,
                           enum tensor_name tensor, int row, int col);

#endif
