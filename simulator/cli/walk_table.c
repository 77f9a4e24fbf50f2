/* walk_table.c: the page of `flashulp walk`: tiles, steps, one line for each number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/walk_parts.h"
#include "simulator/scenario_parts.h"

enum { COLUMNS = 80, EXACT_BESIDE_ARTICLE = 10, EXACT_ALONE = 14 };

static char *few_numbers(const struct tensor *t, const struct walk *w, int64_t head, int64_t first,
                         int count)
{
    enum { MOST = 6 };
    char *text = NULL;
    text_append(&text, "%s", "");
    for (int n = 0; n < count && n < MOST; n++)
        text_append(
            &text, " %s",
            walk_number(tensor_get(t, w->head.batch, head, w->head.k0 + first + n, 0), 0, 8).text);
    if (count > MOST)
        text_append(&text, " ...");
    return text;
}

/* Divisions that come after the last tile. */
static const char *ending_words(const struct walk *w)
{
    const struct walk_step *last = w->step_count > 0 ? &w->steps[w->step_count - 1] : NULL;
    bool divides = false, before = false;
    if (w->backward)
        return "after the last tile, scaled and stored";
    if (w->simulation.is_kernel)
        return "after the last tile of a group";
    if (w->simulation.algorithm == ALGORITHM_DECODE)
        return "the groups put together";
    for (int n = 0; last != NULL && n < w->step_count; n++) {
        bool division = w->steps[n].step == STEP_NORMALIZE || w->steps[n].step == STEP_WEIGHT;
        divides = divides || (division && w->steps[n].tile == WALK_AFTER);
        before = before || (division && w->steps[n].tile != WALK_AFTER);
    }
    return divides && !before ? "after the last tile: the only division" : "after the last tile";
}

void show_rule(struct report *r, const char *words)
{
    int width = 5 + (int)strlen(words);
    report_text(r, "--- %s ", words);
    for (; width < COLUMNS; width++)
        report_text(r, "-");
    report_text(r, "\n");
}

void show_tile(struct report *r, const struct walk *w, int tile)
{
    const struct problem *p = &w->input.problem;
    char *words = NULL;
    if (tile == WALK_AFTER || tile == WALK_BEFORE) {
        show_rule(r, tile == WALK_AFTER ? ending_words(w)
                                        : "before the tiles, from O and L of the forward pass");
        return;
    }
    int64_t first = key_first(&w->attention, tile);
    int count = key_count(&w->attention, tile);
    if (w->simulation.algorithm == ALGORITHM_DECODE)
        text_append(&words, "group %d of %d, ", group_of(&w->attention, tile) + 1,
                    w->attention.choices.grouping.splits);
    text_append(&words, "tile %d of %d    ", tile + 1, key_tiles(&w->attention));
    if (p->D == 1) {
        char *k = few_numbers(&p->k, w, w->head.kv_head, first, count);
        char *v = few_numbers(&p->v, w, w->head.kv_head, first, count);
        text_append(&words, "%s =%s    v =%s", p->scores_given ? "x" : "k", k, v);
        free(k);
        free(v);
    } else if (count == 1) {
        text_append(&words, "key %lld", (long long)first);
    } else {
        text_append(&words, "keys %lld to %lld", (long long)first, (long long)first + count - 1);
    }
    if (strlen(words) > COLUMNS - 5)
        strcpy(words + COLUMNS - 8, "...");
    show_rule(r, words);
    free(words);
}

/* The equation's column, a place narrower where one of ours beside the article's is long. */
static int equation_width(const struct walk *w)
{
    enum { WIDTH = 19, LONG = 6 };
    for (int n = 0; w->input.figures != NULL && n < w->line_count; n++) {
        const struct walk_line *line = &w->lines[n];
        if (line->figure != NULL && strlen(walk_at_digits(line->value, line->figure).text) >= LONG)
            return WIDTH - 1;
    }
    return WIDTH;
}

void show_columns(struct report *r, const struct walk *w)
{
    report_text(r, "  #  step       %-*s value        exact%*sdrift%s\n", equation_width(w),
                "equation", w->input.figures != NULL ? 7 : 12, "",
                w->input.figures != NULL ? "  article" : "");
}

static void show_line(struct report *r, const struct walk *w, const char *head,
                      const char *equation, const struct walk_line *line)
{
    struct number_text drift = walk_drift_text(line), ours;
    bool figures = w->input.figures != NULL;
    int room = figures ? EXACT_BESIDE_ARTICLE : EXACT_ALONE;
    int wide = (int)strlen(head) >= 16; /* SCORE_STORE */
    report_text(r, "%-*s%-*s %-12s %-*s%*s", 16 + wide, head, equation_width(w) - wide, equation,
                walk_number(line->value, 0, 12).text, drift.text[0] != 0 ? room : 0,
                walk_number(line->exact[0], line->exact[1], room - 1 + figures).text,
                drift.text[0] != 0 ? 7 : 0, drift.text);
    if (line->figure != NULL) {
        ours = walk_at_digits(line->value, line->figure);
        report_text(r, "  %-5s  %s", line->figure,
                    strcmp(ours.text, line->figure) == 0 ? "=" : ours.text);
    }
    report_text(r, "\n");
}

/* Which of a tile's keys the row sees, in words. */
static void show_mask(struct report *r, const struct walk *w, const char *head,
                      const struct walk_group *g)
{
    int lo, hi, j = (int)trace_event(w->trace, g->event)->j;
    int64_t first = key_first(&w->attention, j);
    int count = key_count(&w->attention, j), empty = w->attention.choices.Bc - count;
    char *words = NULL;
    walk_seen(w, g->event, &lo, &hi);
    if (hi <= lo)
        text_append(&words, "sees none of these keys");
    else if (hi - lo == count)
        text_append(&words, "sees every key of the tile");
    else if (hi - lo == 1)
        text_append(&words, "sees key %lld, not the other %d", (long long)first + lo, count - 1);
    else
        text_append(&words, "sees keys %lld to %lld, not the other %d", (long long)first + lo,
                    (long long)first + hi - 1, count - (hi - lo));
    if (empty > 0 && w->input.problem.tiles == 0 && key_tiles(&w->attention) > 1)
        text_append(&words, "%s%d place%s empty", hi - lo == count ? "; " : ", ", empty,
                    empty == 1 ? "" : "s");
    report_text(r, "%-16s%-19s %.44s\n", head, g->equation, words);
    free(words);
}

/* What a line after the first is about, where a group is long or has holes. */
static void label_line(const struct walk *w, const struct walk_group *g, int n, char *text,
                       size_t room)
{
    const struct event *e = trace_event(w->trace, g->event);
    bool keys = g->tensor == TENSOR_S || g->tensor == TENSOR_P || g->tensor == TENSOR_DP ||
                g->tensor == TENSOR_DS || g->tensor == TENSOR_SLOPE;
    const struct walk_line *line = &w->lines[g->first + n];
    text[0] = 0;
    if (line->key >= 0 && n > 0) {
        snprintf(text, room, w->selection.dims > 1 ? "    key %lld column %d" : "    key %lld",
                 (long long)line->key, line->col);
        return;
    }
    bool place = keys && line->col >= key_count(&w->attention, (int)e->j);
    if (n == 0 || (g->count <= 4 && w->lines[g->first].col == 0 && !place))
        return;
    if (place)
        snprintf(text, room, "    an empty place");
    else if (keys)
        snprintf(text, room, "    key %lld",
                 (long long)key_first(&w->attention, (int)e->j) + line->col);
    else if (g->tensor == TENSOR_GROUP_WEIGHT)
        snprintf(text, room, "    group %d", line->col + 1);
    else
        snprintf(text, room, "    column %d", line->col);
}

static void show_rest(struct report *r, const struct walk *w, const struct walk_group *g, int from)
{
    const struct walk_line *worst = NULL;
    for (int n = from; n < g->count; n++) {
        const struct walk_line *line = &w->lines[g->first + n];
        if (line->kind == WALK_DRIFT && (worst == NULL || fabs(line->drift) > fabs(worst->drift)))
            worst = line;
    }
    report_text(r, "%-16s    ... %d more", "", g->count - from);
    if (worst != NULL)
        report_text(r, "; their largest drift is %s", walk_drift_text(worst).text);
    report_text(r, "\n");
}

static bool group_wanted(const struct walk *w, const struct walk_group *g, bool changed)
{
    for (int n = 0; n < g->count; n++)
        if (w->lines[g->first + n].changed)
            return true;
    return !changed;
}

void show_step(struct report *r, const struct walk *w, const struct walk_step *step, bool changed)
{
    enum { MOST = 8, FEW = 4 };
    char head[24], label[32];
    snprintf(head, sizeof head, step->number < 10000 ? "%3d  %s" : "%d %s", step->number,
             walk_label(step->step));
    for (int i = step->first; i < step->first + step->count; i++) {
        const struct walk_group *g = &w->groups[i];
        int put = 0, limit = g->count > MOST ? FEW : g->count;
        if (!group_wanted(w, g, changed))
            continue;
        if (step->step == STEP_MASK)
            show_mask(r, w, head, g);
        for (int n = 0; n < g->count && put < limit; n++) {
            if (changed && !w->lines[g->first + n].changed)
                continue;
            label_line(w, g, n, label, sizeof label);
            show_line(r, w, head, put == 0 ? g->equation : label, &w->lines[g->first + n]);
            head[0] = 0;
            put++;
        }
        if (limit < g->count && !changed)
            show_rest(r, w, g, limit);
        head[0] = 0;
    }
}

void show_changed_steps(struct report *r, const struct walk *w)
{
    show_columns(r, w);
    for (int n = 0; n < w->step_count; n++) {
        bool any = false;
        for (int g = w->steps[n].first; g < w->steps[n].first + w->steps[n].count; g++)
            any = any || group_wanted(w, &w->groups[g], true);
        if (any)
            show_step(r, w, &w->steps[n], true);
    }
}

/* Key tiles between two that have steps, or at an end: the mask hides them from the row. */
static void show_hidden_tiles(struct report *r, const struct walk *w, int from, int to)
{
    char words[80];
    if (from > to || w->simulation.choices.descending)
        return;
    if (from == to)
        snprintf(words, sizeof words, "tile %d of %d    hidden from this row by the mask", from + 1,
                 key_tiles(&w->attention));
    else
        snprintf(words, sizeof words, "tiles %d to %d of %d    hidden from this row by the mask",
                 from + 1, to + 1, key_tiles(&w->attention));
    show_rule(r, words);
}

void show_steps(struct report *r, const struct walk *w)
{
    enum { MOST = 8, FIRST = 3, LAST = 2 };
    int tiles = 0, at = 0, shown_tile = -2, before = -1;
    for (int n = 0; n < w->step_count; n++)
        tiles += w->steps[n].tile >= 0 && (n == 0 || w->steps[n].tile != w->steps[n - 1].tile);
    show_columns(r, w);
    if (w->simulation.algorithm == ALGORITHM_DECODE && tiles > MOST) {
        show_groups(r, w);
        return;
    }
    for (int n = 0; n < w->step_count; n++) {
        const struct walk_step *step = &w->steps[n];
        bool new_tile = n == 0 || step->tile != shown_tile;
        at += new_tile && step->tile >= 0;
        bool left_out = tiles > MOST && step->tile >= 0 && at > FIRST && at <= tiles - LAST;
        if (new_tile && step->tile != WALK_BEFORE) {
            int next = step->tile == WALK_AFTER ? key_tiles(&w->attention) : step->tile;
            show_hidden_tiles(r, w, before + 1, next - 1);
            before = next;
        }
        if (new_tile && !left_out)
            show_tile(r, w, step->tile);
        if (new_tile && left_out && at == FIRST + 1) {
            char words[128];
            snprintf(words, sizeof words, "%s tiles left out, from step %d: --step N, -o FILE.csv",
                     grouped(tiles - FIRST - LAST).text, step->number);
            show_rule(r, words);
        }
        shown_tile = step->tile;
        if (!left_out)
            show_step(r, w, step, false);
    }
}
