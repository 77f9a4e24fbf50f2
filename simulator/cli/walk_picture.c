/* walk_picture.c: the terms of one sum of a step, bit by bit, and where tensor cores cut them. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/cli/walk_parts.h"
#include "simulator/mma.h"
#include "simulator/scenario_parts.h"

enum { MOST_TERMS = 40 };

struct term {
    double a, b; /* their product; b = 1: the sum so far */
};

/* Exponents of a term's highest place and lowest bit; a product is not normalised. */
static int high_bit(const struct term *t)
{
    return ilogb(t->a) + ilogb(t->b);
}

static int low_bit(const struct term *t)
{
    double x = fabs(t->a * t->b);
    int e = ilogb(x);
    while (x != ldexp(floor(ldexp(x, -e)), e))
        e--;
    return e;
}

/* The sum so far, then what the step adds; how many, or 0 where it is no product. */
static int terms_of(const struct walk *w, const struct walk_group *g, const struct walk_line *line,
                    struct term *term)
{
    const struct event *e = trace_event(w->trace, g->event);
    bool weights = e->step == STEP_PV;
    int count = 0, lo = 0, hi, cols, wide;
    const double *left = walk_before(w, g->event, weights ? TENSOR_P : TENSOR_Q, &cols);
    const double *right = walk_before(w, g->event, weights ? TENSOR_V : TENSOR_K, &wide);
    if ((!weights && e->step != STEP_QK) || left == NULL || right == NULL)
        return 0;
    hi = cols;
    if (weights) {
        walk_operand_seen(w, g->event, TENSOR_P, &lo, &hi);
        term[count++] =
            (struct term){walk_earlier(w, g->event, (enum tensor_name)e->tensor, line->col), 1};
    }
    for (int c = lo; c < hi && count < MOST_TERMS; c++)
        term[count++] =
            (struct term){left[c], weights ? right[(size_t)c * (size_t)wide + (size_t)line->col]
                                           : right[(size_t)line->col * (size_t)wide + (size_t)c]};
    return count;
}

/* Below this place a unit keeps nothing of a step that has the largest term: one line for each F. */
static void draw_cuts(struct page_block *chart, int largest)
{
    for (int F = 1; F <= 64; F++) {
        char *names = NULL;
        for (int u = 0; u < MMA_UNITS; u++) {
            const char *reason;
            const struct mma_info *info = mma_info((enum mma_unit)u, MMA_TYPE_16BIT, &reason);
            if (info != NULL && info->F == F)
                text_append(&names, "%s%s", names != NULL ? ", " : "",
                            mma_unit_name((enum mma_unit)u));
        }
        if (names != NULL)
            page_chart_limit(chart, largest - F - 0.5, "%s: F = %d", names, F);
        free(names);
    }
}

/* Equal neighbours are one row. */
static void draw_terms(struct page_block *chart, const struct term *term, int count)
{
    for (int n = 0, alike; n < count; n += alike) {
        const struct term *t = &term[n];
        double x = t->a * t->b;
        char note[48];
        for (alike = 1; n + alike < count && t[alike].a == t->a && t[alike].b == t->b;)
            alike++;
        if (n == 0 && t->b == 1 && x == 0)
            continue; /* nothing so far */
        snprintf(note, sizeof note, alike > 1 ? "%.6g, %d times" : "%.6g", x, alike);
        page_chart_row(chart, note, "%s x %s", walk_number(t->a, 0, 14).text,
                       walk_number(t->b, 0, 14).text);
        if (x != 0)
            page_chart_mark(chart, PAGE_BAR_1, low_bit(t) - 0.5, fmax(high_bit(t), ilogb(x)) + 0.5,
                            "%s", "");
    }
}

bool draw_step(struct report *r, const struct walk *w, const struct walk_step *step,
               struct message *why)
{
    struct term term[MOST_TERMS];
    const struct walk_group *g = &w->groups[step->first];
    const struct walk_line *line = &w->lines[g->first];
    int count = g->count > 0 ? terms_of(w, g, line, term) : 0, largest = INT_MIN;
    for (int n = 0; n < count; n++) {
        if (!isfinite(term[n].a * term[n].b))
            count = 0;
        else if (term[n].a * term[n].b != 0)
            largest = high_bit(&term[n]) > largest ? high_bit(&term[n]) : largest;
    }
    if (count == 0 || largest == INT_MIN)
        return refuse(why,
                      "-o .svg: step %d is no sum of products that are finite and not all 0; "
                      "QK and PV are drawn",
                      step->number);
    struct page_block *chart = page_chart(
        report_picture(r), "place of the bit: n stands for 2^n", false,
        "the terms of one sum, bit by bit; a tensor core drops what lies left of its line, in "
        "a step with the largest term");
    page_chart_key(chart, PAGE_BAR_1, "from a term's first bit to its last");
    draw_cuts(chart, largest);
    draw_terms(chart, term, count);
    return true;
}
