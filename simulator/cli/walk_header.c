/* walk_header.c: the head of a walk's page: what is computed, by what, of which row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/walk_parts.h"
#include "simulator/scenario_parts.h"

enum { COLUMNS = 80 };

/* "[ 1 2 | 3 0 ]" from a (1, 1, N, 1) tensor; long rows are cut. */
static char *row_in_tiles(const struct walk *w, const struct tensor *t)
{
    enum { MOST = 10 };
    const struct problem *p = &w->input.problem;
    char *text = NULL;
    int tile = 0;
    text_append(&text, "[");
    for (int64_t n = 0; n < p->Nk; n++) {
        if (n == MOST) {
            text_append(&text, " ...");
            break;
        }
        while (tile < p->tiles && p->tile_ends[tile] <= n) {
            text_append(&text, " |");
            tile++;
        }
        text_append(&text, " %s", walk_number(tensor_get(t, 0, 0, n, 0), 0, 10).text);
    }
    text_append(&text, " ]");
    return text;
}

static char *scale_text(const struct problem *p)
{
    char *text = NULL;
    text_append(&text, "scale %s", walk_number(p->scale.value, 0, 12).text);
    if (p->scale.root != 1)
        text_append(&text, "/sqrt(%lld)", (long long)p->scale.root);
    return text;
}

/* Parts of a line, three blanks between them, broken at 80 columns. */
struct parts {
    struct report *r;
    int column;
};

static void add_part(struct parts *p, const char *text)
{
    int width = (int)strlen(text);
    if (p->column > 0 && p->column + 3 + width > COLUMNS) {
        report_text(p->r, "\n");
        p->column = 0;
    }
    report_text(p->r, "%s%s", p->column > 0 ? "   " : "", text);
    p->column += width + (p->column > 0 ? 3 : 0);
}

static void add_masks(struct parts *line, const struct problem *p)
{
    char text[64];
    if (p->mask.causal)
        add_part(line, p->mask.align == ALIGN_TOP_LEFT ? "causal, top-left" : "causal");
    if (p->mask.left >= 0 || (p->mask.right >= 0 && !p->mask.causal)) {
        snprintf(text, sizeof text, "window %lld,%lld", (long long)p->mask.left,
                 (long long)p->mask.right);
        add_part(line, text);
    }
    if (p->softcap > 0) {
        snprintf(text, sizeof text, "softcap %s", walk_number(p->softcap, 0, 12).text);
        add_part(line, text);
    }
}

static void add_inputs(struct parts *line, const struct walk *w)
{
    const struct problem *p = &w->input.problem;
    char text[2][96];
    if (p->scores_given) {
        char *x = row_in_tiles(w, &p->k), *v = row_in_tiles(w, &p->v);
        text_append(&line->r->text, "%s", "");
        for (int n = 0; n < 2; n++) {
            char *whole = NULL;
            text_append(&whole, "%s = %s", n == 0 ? "x" : "v", n == 0 ? x : v);
            add_part(line, whole);
            free(whole);
        }
        free(x);
        free(v);
        return;
    }
    snprintf(text[0], sizeof text[0], "q %lld,%lld,%lld,%lld", (long long)p->B, (long long)p->Hq,
             (long long)p->Nq, (long long)p->D);
    snprintf(text[1], sizeof text[1], "k v %lld,%lld,%lld,%lld", (long long)p->B, (long long)p->Hkv,
             (long long)p->Nk, (long long)p->D);
    add_part(line, text[0]);
    add_part(line, text[1]);
    add_part(line, format_info(w->input.input_format)->name);
}

static void add_which_row(struct report *r, const struct walk *w)
{
    const struct problem *p = &w->input.problem;
    if (w->selection.rows_total <= 1)
        return;
    report_text(r,
                "row %lld of head %lld of %s %lld: one of %s rows; --rows, --heads, --batch %s\n",
                (long long)w->row, (long long)w->head.head, p->cu_q != NULL ? "sequence" : "batch",
                (long long)(p->cu_q != NULL ? w->head.sequence : w->head.batch),
                grouped(w->selection.rows_total).text, "choose");
}

static void add_faults(struct parts *line, const struct walk *w)
{
    for (int f = 0; f < FAULT_COUNT; f++) {
        char text[64];
        if ((w->simulation.choices.faults >> f & 1) == 0)
            continue;
        snprintf(text, sizeof text, "fault %s", fault_name((enum fault)f));
        add_part(line, text);
    }
}

/* A file's name without its folders. */
static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

void show_header(struct report *r, const struct walk *w)
{
    const struct algorithm_info *a = algorithm_info(w->simulation.algorithm);
    const struct problem *p = &w->input.problem;
    bool kernel = w->simulation.is_kernel;
    struct kernel_name name = simulation_name(&w->simulation);
    const char *source = kernel        ? kernel_info(w->simulation.kernel.kernel)->source
                         : w->backward ? "arXiv 2307.08691, Algorithm 2"
                                       : a->source;
    int tiles = key_tiles(&w->attention);
    struct parts line = {r, 0};
    char *title = NULL, *scale = scale_text(p), text[64];
    bool groups = !kernel && w->simulation.algorithm == ALGORITHM_DECODE;
    int parts = groups ? w->attention.choices.grouping.splits : tiles;
    text_append(&title, "%.28s   %s%s on %s %s%s in %s %s%s", last_name(w->input.name),
                kernel ? name.text : a->title, w->backward && !kernel ? ", then backward," : "",
                grouped(w->head.Nk).text, p->scores_given ? "score" : "key",
                w->head.Nk == 1 ? "" : "s", grouped(parts).text, groups ? "group" : "tile",
                parts == 1 ? "" : "s");
    if (kernel) {
        report_text(r, "%s\n", title);
        text_wrapped(&r->text, 0, 0, source);
    } else {
        report_text(r, "%s%s%s\n", title,
                    strlen(title) + 4 + strlen(source) <= COLUMNS ? "    " : "\n", source);
    }
    add_inputs(&line, w);
    add_part(&line, scale);
    snprintf(text, sizeof text, "policy %s", w->simulation.policy.name);
    add_part(&line, text);
    if (w->simulation.policy.special.how != SPECIAL_CR)
        add_part(&line, special_words(w->simulation.policy.special).text);
    if (w->backward) {
        snprintf(text, sizeof text, "dO %.50s", last_name(w->given_as));
        add_part(&line, text);
    }
    add_masks(&line, p);
    add_faults(&line, w);
    report_text(r, "\n%s%s", w->input.remarks, w->backward ? w->given.remark : "");
    add_which_row(r, w);
    report_text(r, "drift: (value - exact) in ulps of %s.%s\n\n", format_info(w->format)->name,
                w->input.figures != NULL ? "   article: = same printed digits" : "");
    free(title);
    free(scale);
}
