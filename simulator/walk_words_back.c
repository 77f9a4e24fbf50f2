/* walk_words_back.c: the backward steps' equations with the numbers that went in. */
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"
#include "simulator/walk.h"

enum { TERMS = 4 }; /* of a sum; then "..." */

struct filled {
    const struct walk *w;
    size_t event;
    const struct event *e;
    const struct walk_line *line;
    char *text;
};

static void put(struct filled *f, double x)
{
    text_append(&f->text, x < 0 ? "(%s)" : "%s", walk_number(x, 0, 16).text);
}

/* The values of an array's last event before this one with the step (STEP_COUNT: whichever), of the
   query tile, or where `of_tile` says so of the key tile; NULL: none. */
static const double *values_of(const struct filled *f, enum tensor_name t, enum step step,
                               bool of_tile)
{
    const struct trace *trace = f->w->trace;
    for (size_t n = f->event; n-- > 0;) {
        const struct event *e = trace_event(trace, n);
        bool here = of_tile ? e->j == f->e->j : e->i == (uint32_t)f->w->query_tile;
        if (e->tensor == (uint32_t)t && here && (step == STEP_COUNT || e->step == (uint32_t)step))
            return trace_values(trace, n);
    }
    return NULL;
}

/* a[first a] x b[first b] + ..., `count` of them, strides apart. */
static void put_products(struct filled *f, const double *a, int stride_a, const double *b,
                         int stride_b, int count)
{
    for (int n = 0; n < count && a != NULL && b != NULL; n++) {
        text_append(&f->text, "%s", n > 0 ? " + " : "");
        if (n == TERMS && count - n > 1) {
            text_append(&f->text, "...");
            return;
        }
        put(f, a[n * stride_a]);
        text_append(&f->text, " x ");
        put(f, b[n * stride_b]);
    }
}

static const double *row_of(const struct filled *f, const double *values, int cols)
{
    return values != NULL ? values + (size_t)f->w->tile_row * (size_t)cols : NULL;
}

/* dV or dK of a key: what was there, and the column of P or dS over the tile's queries. */
static void put_key_gradient(struct filled *f, enum tensor_name weights, enum tensor_name rows)
{
    int D = (int)f->w->head.D, Br = f->w->attention.choices.Br, Bc = f->w->attention.choices.Bc;
    int key = (int)(f->line->at / (size_t)D), d = f->line->col;
    int64_t left = f->w->head.Nq - (int64_t)f->w->query_tile * Br;
    const double *a = values_of(f, weights, STEP_COUNT, false);
    const double *b = values_of(f, rows, STEP_COUNT, false), *old = NULL;
    for (size_t n = f->event; n-- > f->w->first && old == NULL;) {
        const struct event *e = trace_event(f->w->trace, n);
        if (e->tensor == f->e->tensor && e->j == f->e->j && e->step == f->e->step)
            old = trace_values(f->w->trace, n);
    }
    put(f, old != NULL ? old[f->line->at] : 0);
    text_append(&f->text, " + ");
    put_products(f, a != NULL ? a + key : NULL, Bc, b != NULL ? b + d : NULL, D,
                 left < Br ? (int)left : Br);
}

/* The row's dS over the tile's keys. */
static void put_score_gradients(struct filled *f, bool times_keys)
{
    int Bc = f->w->attention.choices.Bc, D = (int)f->w->head.D;
    int count = key_count(&f->w->attention, (int)f->e->j);
    const double *dS = row_of(f, values_of(f, TENSOR_DS, STEP_COUNT, false), Bc);
    const double *K = values_of(f, TENSOR_K, STEP_COUNT, true);
    if (times_keys) {
        put_products(f, dS, 1, K != NULL ? K + f->line->col : NULL, D, count);
        return;
    }
    put(f, walk_earlier(f->w, f->event, TENSOR_DS_SUM, 0));
    for (int c = 0; c < count && dS != NULL; c++) {
        bool cut = c == TERMS && count - c > 1;
        text_append(&f->text, cut ? " + ..." : " + ");
        if (cut)
            return;
        put(f, dS[c]);
    }
}

/* dS of a key: P as e^(S - L) gave it, times dP - D, under softcap times its slope. */
static void put_score_gradient(struct filled *f)
{
    int Bc = f->w->attention.choices.Bc, c = f->line->col;
    const double *P = row_of(f, values_of(f, TENSOR_P, STEP_REWEIGH, false), Bc);
    const double *dP = row_of(f, values_of(f, TENSOR_DP, STEP_DS, false), Bc);
    const double *slope = f->w->input.problem.softcap > 0
                              ? row_of(f, values_of(f, TENSOR_SLOPE, STEP_DS, false), Bc)
                              : NULL;
    put_products(f, P != NULL ? P + c : NULL, 1, dP != NULL ? dP + c : NULL, 1, 1);
    if (slope != NULL) {
        text_append(&f->text, " x ");
        put(f, slope[c]);
    }
}

static void put_difference(struct filled *f, enum tensor_name a, int col, enum tensor_name b)
{
    put(f, walk_earlier(f->w, f->event, a, col));
    text_append(&f->text, " - ");
    put(f, walk_earlier(f->w, f->event, b, 0));
}

static void put_scaled(struct filled *f)
{
    const struct scale *scale = &f->w->input.problem.scale;
    const double *x = values_of(f, (enum tensor_name)f->e->tensor, STEP_COUNT, f->line->key >= 0);
    text_append(&f->text, "%s", walk_number(scale->value, 0, 12).text);
    if (scale->root != 1)
        text_append(&f->text, "/sqrt(%lld)", (long long)scale->root);
    text_append(&f->text, " x ");
    if (x != NULL)
        put(f, x[f->line->at]);
}

/* dQ as it stood in the copy that the key tile adds to. */
static double copy_before(const struct filled *f, int col)
{
    const struct walk *w = f->w;
    uint32_t copies = w->simulation.choices.dq_drawn ? (uint32_t)key_tiles(&w->attention)
                                                     : (uint32_t)w->simulation.choices.dq_copies;
    for (size_t n = f->event; n-- > w->first;) {
        const struct event *e = trace_event(w->trace, n);
        bool same = copies < 2 || e->j % copies == f->e->j % copies;
        if (e->tensor == TENSOR_DQ && e->i == (uint32_t)w->query_tile && same)
            return row_of(f, trace_values(w->trace, n), (int)e->cols)[col];
    }
    return 0;
}

/* Is there something to put in?  Else the equation stays in letters. */
static bool put_step(struct filled *f)
{
    const struct walk *w = f->w;
    int D = (int)w->head.D, c = f->line->col;
    const double *dO = row_of(f, values_of(f, TENSOR_DO, STEP_COUNT, false), D);
    switch (f->e->step) {
    case STEP_DELTA:
        put_products(f, dO, 1, row_of(f, values_of(f, TENSOR_O, STEP_COUNT, false), D), 1, D);
        return true;
    case STEP_REWEIGH:
        text_append(&f->text, "e^(");
        put_difference(f, TENSOR_S, c, TENSOR_LSE);
        text_append(&f->text, ")");
        return true;
    case STEP_DV:
        put_key_gradient(f, TENSOR_P, TENSOR_DO);
        return true;
    case STEP_DK:
        put_key_gradient(f, TENSOR_DS, TENSOR_Q);
        return true;
    case STEP_DP: {
        const double *V = values_of(f, TENSOR_V, STEP_COUNT, true);
        put_products(f, dO, 1, V != NULL ? V + (size_t)c * (size_t)D : NULL, 1, D);
        return true;
    }
    case STEP_DS:
        if (f->e->tensor == TENSOR_DP)
            put_difference(f, TENSOR_DP, c, TENSOR_DELTA);
        else if (f->e->tensor == TENSOR_DS)
            put_score_gradient(f);
        return f->e->tensor != TENSOR_SLOPE;
    case STEP_DS_SUM:
        put_score_gradients(f, false);
        return true;
    case STEP_DQ:
        if (f->e->tensor == TENSOR_DQ_PART) {
            put_score_gradients(f, true);
            return true;
        }
        put(f, copy_before(f, c));
        text_append(&f->text, " + ");
        put(f, walk_earlier(w, f->event, TENSOR_DQ_PART, c));
        return true;
    case STEP_GRADIENT:
        put_scaled(f);
        return true;
    default:
        return false;
    }
}

char *walk_substituted_backward(const struct walk *w, size_t event, const struct walk_line *line)
{
    struct filled f = {w, event, trace_event(w->trace, event), line, NULL};
    char letters[64];
    text_append(&f.text, "%s", "");
    if (!put_step(&f)) {
        walk_equation(w, event, letters, sizeof letters);
        const char *right = strstr(letters, "= ");
        text_append(&f.text, "%s", right != NULL ? right + 2 : letters);
    }
    return f.text;
}
