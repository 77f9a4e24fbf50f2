/* walk_beside.c: two walks in two columns, tile by tile, their steps aligned by name.

   Where the tiles differ, a tile on the right stands beside the one on the left that holds its
   first key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/walk_parts.h"
#include "simulator/scenario_parts.h"

enum { MOST = 64, FEW = 3 };

/* Some steps of a walk: indices into its steps. */
struct part {
    const struct walk *w;
    int count, step[MOST];
};

/* The left tile beside which a step of the right walk stands. */
static int left_tile(const struct walk *left, const struct walk *right, int tile)
{
    if (tile == WALK_AFTER)
        return WALK_AFTER;
    int64_t key = key_first(&right->attention, tile);
    for (int j = key_tiles(&left->attention) - 1; j > 0; j--)
        if (key_first(&left->attention, j) <= key)
            return j;
    return 0;
}

static struct part part_of(const struct walk *w, const struct walk *left, int tile)
{
    struct part p = {.w = w};
    for (int n = 0; n < w->step_count && p.count < MOST; n++)
        if (left_tile(left, w, w->steps[n].tile) == tile)
            p.step[p.count++] = n;
    return p;
}

static enum step step_id(const struct part *p, int n)
{
    return p->w->steps[p->step[n]].step;
}

/* One side of one line: equation and value, 30 columns. */
static void side_text(char *text, size_t room, const struct part *p, int n, int line)
{
    int at = 0;
    text[0] = 0;
    if (n < 0)
        return;
    const struct walk_step *step = &p->w->steps[p->step[n]];
    for (int i = step->first; i < step->first + step->count; i++) {
        const struct walk_group *g = &p->w->groups[i];
        int shown = g->count > FEW + 1 ? FEW : g->count;
        for (int k = 0; k < shown; k++, at++)
            if (at == line) {
                snprintf(text, room, "%-17s %-12s", k == 0 ? g->equation : "",
                         walk_number(p->w->lines[g->first + k].value, 0, 12).text);
                return;
            }
        if (shown < g->count && at++ == line) {
            snprintf(text, room, "  ... %d more", g->count - shown);
            return;
        }
    }
}

static const struct walk_line *line_of(const struct part *p, int n, enum tensor_name t, int col)
{
    const struct walk_step *step = &p->w->steps[p->step[n]];
    for (int i = step->first; i < step->first + step->count; i++)
        for (int k = 0; k < p->w->groups[i].count; k++) {
            const struct walk_line *line = &p->w->lines[p->w->groups[i].first + k];
            if (p->w->groups[i].tensor == t && line->col == col)
                return line;
        }
    return NULL;
}

/* Do both steps follow the same keys? */
static bool same_keys(const struct part *left, int l, const struct part *right, int r)
{
    int i = left->w->steps[left->step[l]].tile, j = right->w->steps[right->step[r]].tile;
    const struct attention *a = &left->w->attention, *b = &right->w->attention;
    if (i == WALK_AFTER || j == WALK_AFTER)
        return i == j;
    return key_first(a, i) == key_first(b, j) && key_count(a, i) == key_count(b, j);
}

/* "=" when every array both sides show holds the same bits, "*" when not, "" without a common one
   or where the keys differ. */
static const char *verdict(const struct part *left, int l, const struct part *right, int r)
{
    bool common = false;
    if (l < 0 || r < 0 || !same_keys(left, l, right, r))
        return "";
    const struct walk_step *step = &left->w->steps[left->step[l]];
    for (int i = step->first; i < step->first + step->count; i++) {
        const struct walk_group *g = &left->w->groups[i];
        for (int k = 0; k < g->count; k++) {
            const struct walk_line *a = &left->w->lines[g->first + k];
            const struct walk_line *b = line_of(right, r, g->tensor, a->col);
            if (b != NULL && memcmp(&a->value, &b->value, sizeof a->value) != 0)
                return "*";
            common = common || b != NULL;
        }
    }
    return common ? "=" : "";
}

static void trim_line(struct report *r, const char *text)
{
    int length = (int)strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    report_text(r, "%.*s\n", length, text);
}

/* Steps l of the left and r of the right (-1: none) on the same lines. */
static void show_pair(struct report *report, const struct part *left, int l,
                      const struct part *right, int r)
{
    const char *label = walk_label(l >= 0 ? step_id(left, l) : step_id(right, r));
    for (int line = 0;; line++) {
        char a[80], b[80], whole[160];
        side_text(a, sizeof a, left, l, line);
        side_text(b, sizeof b, right, r, line);
        if (a[0] == 0 && b[0] == 0 && line > 0)
            return;
        snprintf(whole, sizeof whole, "%-10s %-30.30s | %-30.30s %s", line == 0 ? label : "", a, b,
                 line == 0 ? verdict(left, l, right, r) : "");
        trim_line(report, whole);
    }
}

/* Longest common run of step names, in order (Wagner and Fischer). */
static void show_aligned(struct report *r, const struct part *left, const struct part *right)
{
    static int longest[MOST + 1][MOST + 1];
    for (int i = left->count; i >= 0; i--)
        for (int j = right->count; j >= 0; j--) {
            bool end = i == left->count || j == right->count;
            if (end)
                longest[i][j] = 0;
            else if (step_id(left, i) == step_id(right, j))
                longest[i][j] = longest[i + 1][j + 1] + 1;
            else
                longest[i][j] =
                    longest[i + 1][j] > longest[i][j + 1] ? longest[i + 1][j] : longest[i][j + 1];
        }
    for (int i = 0, j = 0; i < left->count || j < right->count;) {
        if (i < left->count && j < right->count && step_id(left, i) == step_id(right, j))
            show_pair(r, left, i++, right, j++);
        else if (j == right->count || (i < left->count && longest[i + 1][j] >= longest[i][j + 1]))
            show_pair(r, left, i++, right, -1);
        else
            show_pair(r, left, -1, right, j++);
    }
}

static void show_outcome(struct report *r, const struct walk *left, const struct walk *right)
{
    const double(*exact)[2];
    const double *a = walk_last(left, TENSOR_O, &exact), *b = walk_last(right, TENSOR_O, &exact);
    const char *names[2] = {algorithm_info(left->simulation.algorithm)->name,
                            algorithm_info(right->simulation.algorithm)->name};
    int64_t differ = 0, most = 0, dims = left->selection.dims;
    for (int64_t k = 0; a != NULL && b != NULL && k < dims; k++) {
        int64_t d = left->selection.dim[k];
        bool number = a[d] == a[d] && b[d] == b[d];
        int64_t steps =
            number ? llabs(format_steps(left->format, a[d], b[d])) : a[d] == a[d] || b[d] == b[d];
        differ += steps != 0;
        most = steps > most ? steps : most;
    }
    char *words = NULL;
    if (differ == 0)
        text_append(&words, "O: the same bits by both.");
    else
        text_append(&words, "O: %s of %s differ, by at most %s step%s of %s.", grouped(differ).text,
                    grouped(dims).text, grouped(most).text, most == 1 ? "" : "s",
                    format_info(left->format)->name);
    text_append(&words, "  Divisions: %s %d, %s %d.", names[0], left->divisions, names[1],
                right->divisions);
    report_text(r, "\n");
    show_words(r, 0, words);
    struct json *j = json_object(r->json, "beside");
    json_string(j, "algorithm", names[1]);
    json_whole(j, "differ", differ);
    json_whole(j, "divisions", right->divisions);
}

void show_beside(struct report *r, const struct walk *left, const struct walk *right)
{
    enum { TILES = 8 };
    int tiles = key_tiles(&left->attention);
    char whole[120];
    snprintf(whole, sizeof whole, "%-10s %-30s | %s", "step",
             algorithm_info(left->simulation.algorithm)->name,
             algorithm_info(right->simulation.algorithm)->name);
    report_text(r, "%s\n", whole);
    for (int n = 0; n <= tiles; n++) {
        int tile = n == tiles                            ? WALK_AFTER
                   : left->simulation.choices.descending ? tiles - 1 - n
                                                         : n;
        if (n == TILES && tiles > TILES)
            report_text(r, "--- %d tiles left out\n", tiles - TILES);
        if (n >= TILES && n < tiles)
            continue;
        struct part a = part_of(left, left, tile), b = part_of(right, left, tile);
        if (a.count + b.count == 0)
            continue;
        if (tile == WALK_AFTER)
            show_rule(r, "after the last tile");
        else
            show_tile(r, left, tile);
        show_aligned(r, &a, &b);
        if (a.count == MOST || b.count == MOST)
            report_text(r, "... more steps of this tile are left out\n");
    }
    show_outcome(r, left, right);
    report_text(r, "=: the arrays both show hold the same bits; *: they do not.\n");
}
