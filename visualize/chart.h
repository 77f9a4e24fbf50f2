/* chart.h: parts that several scenes draw: axes with title and unit, cells with a value, run
   letters. */
#ifndef FLASHULP_VISUALIZE_CHART_H
#define FLASHULP_VISUALIZE_CHART_H

#include "visualize/scene.h"

/* A run in a picture: its letter, ink and marker belong together everywhere. */
struct run_style {
    char letter;
    enum ink ink;
    enum mark mark;
};
struct run_style run_style(int run); /* 0: A ... 3: D; -1: the exact result, E */
/* Marker and letter, the letter's base line at y. */
void draw_run(struct drawing *d, int run, double x, double y, double size);

/* A linear scale: value low at `from`, high at `to` (units; to < from where it points up). */
struct axis {
    double low, high, from, to;
};
double axis_at(const struct axis *s, double value);
/* low and high widened to round numbers, about `count` steps apart; returns the step. */
double axis_round(struct axis *s, int count);

/* Left of x, upwards, with round ticks and light lines to `right`; its title above its end. */
void draw_axis_up(struct drawing *d, const struct axis *s, double x, double right, double step,
                  const char *title);
/* Below y; its title under it. */
void draw_axis_across(struct drawing *d, const struct axis *s, double y, double step,
                      const char *title);

/* A value in a box: its symbol and a note above it, in type that fits the width. */
struct value_cell {
    struct box box;
    const char *symbol, *value, *note;
    enum ink fill, line;
    double type; /* units to the em of the value */
};
void draw_cell(struct drawing *d, const struct value_cell *c);
/* A text no wider than `width`: smaller type where it must. */
void draw_fitted(struct drawing *d, enum face face, double size, enum align align, enum ink ink,
                 double x, double y, double width, const char *text);

#endif
