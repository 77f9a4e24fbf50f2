/* scene_divergence_where.c: page WHERE: a map of the errors of the outputs, the tree of numbers
   that made one of them with what each is off, its bits and neighbours, its drift over time. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "visualize/frame.h"
#include "visualize/scene_divergence.h"

static double top_of(const struct divergence_core *c)
{
    return isfinite(c->largest) && c->largest > 0 ? c->largest : 1;
}

static unsigned char level_of(const struct divergence_core *c, int n)
{
    double share = isnan(c->drift[n]) ? 1 : fabs(c->drift[n]) / top_of(c);
    return (unsigned char)fmin(HEAT_LEVELS - 1, floor(share * HEAT_LEVELS));
}

/* What rows are called: "head 0" to "3". */
static void draw_rows(const struct divergence_core *c, struct box b, struct drawing *d)
{
    bool heads = c->grouped || (c->heads > 1 && c->per_head == 1);
    int first = c->grouped ? (int)c->first_head * c->per_head : heads ? (int)c->first_head : 0;
    draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, b.x - 6, b.y + 10, "%s %d",
              heads          ? "head"
              : c->heads > 1 ? "row"
                             : "query",
              first);
    if (c->rows > 1 && b.h > 30)
        draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, b.x - 6, b.y + b.h, "%d",
                  first + c->rows - 1);
}

void divergence_draw_heat(const struct divergence_view *v, struct box b, struct drawing *d)
{
    static _Thread_local unsigned char levels[DIVERGENCE_SIDE * DIVERGENCE_SIDE];
    const struct divergence_core *c = v->core;
    double w = b.w / c->cols, h = b.h / c->rows;
    int count = c->rows * c->cols;
    for (int n = 0; n < count; n++)
        levels[n] = level_of(c, n);
    draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, b.x, b.y - 6, "column 0");
    draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, b.x + b.w, b.y - 6, "%d", c->cols - 1);
    draw_rows(c, b, d);
    draw_heat(d, b, c->cols, c->rows, levels);
    draw_rect(d, b, INK_NONE, INK_RULE);
    for (int k = 0; k < count && count <= 1 << 14; k++) {
        int n = c->order[k]; /* the key for the next number goes from the worst on */
        d->what = n + 1;     /* where the pointer is; nothing to be seen */
        draw_rect(d, (struct box){b.x + w * (n % c->cols), b.y + h * (n / c->cols), w, h}, INK_NONE,
                  INK_NONE);
    }
    d->what = 0;
    struct box at = {b.x + w * (v->chosen % c->cols) - 2, b.y + h * (v->chosen / c->cols) - 2,
                     w + 4, h + 4};
    draw_rect(d, at, INK_NONE, INK_ALARM)->size = 2;
}

static void draw_shades(const struct divergence_core *c, double x, double y, bool large,
                        struct drawing *d)
{
    unsigned char levels[HEAT_LEVELS];
    for (int n = 0; n < HEAT_LEVELS; n++)
        levels[n] = (unsigned char)n;
    draw_heat(d, (struct box){x, y, 180, 12}, HEAT_LEVELS, 1, levels);
    draw_rect(d, (struct box){x, y, 180, 12}, INK_NONE, INK_QUIET);
    draw_text(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, x, y + 25, "0");
    draw_text(d, FACE_SANS, 10.5, ALIGN_RIGHT, INK_QUIET, x + 180, y + 25, "off by %.3g ulp of %s",
              top_of(c), format_info(c->format)->name);
    double told = large ? x : x + 200;
    y += large ? 34 : 0;
    draw_rect(d, (struct box){told, y - 1, 13, 13}, INK_NONE, INK_ALARM)->size = 2;
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, told + 20, y + 10, "the one that is told");
}

/* Cells of the tree: four rows of three places. */
enum { CELL_WIDE = 116, STEP_WIDE = 129 };
static const struct tree_size {
    double cell, step;                  /* heights */
} tree_sizes[2] = {{36, 66}, {34, 56}}; /* the second: in double type */
struct node {
    const char *symbol, *made;
    int col, row;
    struct held held;
    bool gone; /* no longer held: it became what stands above */
};
enum { NODE_O, NODE_O_ACC, NODE_L, NODE_P, NODE_DECAY, NODE_S, NODE_M, NODES };

static const struct {
    int from, to;
} edges[] = {{NODE_O_ACC, NODE_O}, {NODE_L, NODE_O},     {NODE_P, NODE_O_ACC},
             {NODE_P, NODE_L},     {NODE_DECAY, NODE_L}, {NODE_DECAY, NODE_O_ACC},
             {NODE_S, NODE_P},     {NODE_M, NODE_P},     {NODE_M, NODE_DECAY}};
enum { EDGES = sizeof edges / sizeof edges[0] };

/* The key of the tile at hand that weighs most so far; -1: none is known. */
static int heaviest(const struct softmax_story *s, const struct instant *now, int *tile,
                    struct held *weight)
{
    const struct lane *l = &s->lane[0];
    int best = -1;
    *tile = l->state[now->done[0]].tile;
    for (int col = l->tiles > 0 ? l->tile[*tile].lo : 0; l->tiles > 0 && col < l->tile[*tile].hi;
         col++) {
        struct held h;
        if (lane_weight(l, s, *tile, col, now->done[0], &h) &&
            (best < 0 || h.value > weight->value)) {
            best = col;
            *weight = h;
        }
    }
    return best;
}

static void fill_nodes(const struct softmax_story *s, const struct instant *now,
                       struct node nodes[NODES], char *p, char *score, size_t room)
{
    static const struct node made[NODES] = {
        {.symbol = "O", .made = "O = O~ / l, then rounded", .col = 1, .row = 0},
        {.symbol = "O~", .made = "a O~ + sum p v", .col = 0, .row = 1},
        {.symbol = "l", .made = "a l + sum p", .col = 2, .row = 1},
        {.symbol = "p", .col = 0, .row = 2},
        {.symbol = "a", .made = "e^(m before - m)", .col = 2, .row = 2},
        {.symbol = "s", .col = 0, .row = 3},
        {.symbol = "m", .made = "largest score so far", .col = 2, .row = 3}};
    static const enum slot slots[NODES] = {[NODE_O] = SLOT_O,
                                           [NODE_O_ACC] = SLOT_O_ACC,
                                           [NODE_L] = SLOT_L,
                                           [NODE_DECAY] = SLOT_DECAY,
                                           [NODE_M] = SLOT_M};
    int tile, col;
    struct held weight = {.is = false};
    double x;
    for (int n = 0; n < NODES; n++) {
        nodes[n] = made[n];
        if (n == NODE_P || n == NODE_S)
            continue;
        nodes[n].held = softmax_held(s, now->done, 0, slots[n]);
        if (n == NODE_O_ACC && !nodes[n].held.is) {
            nodes[n].held = softmax_last(s, now->done, 0, SLOT_O_ACC);
            nodes[n].gone = nodes[n].held.is;
        }
    }
    if (nodes[NODE_O_ACC].gone)
        nodes[NODE_O_ACC].made = "as it was divided";
    col = heaviest(s, now, &tile, &weight);
    snprintf(p, room, col < 0 ? "e^(s - m)" : "e^(s - m) of the heaviest key of tile %d", tile + 1);
    snprintf(score, room, "c q.k of that key");
    nodes[NODE_P].made = p;
    nodes[NODE_S].made = score;
    nodes[NODE_P].held = weight;
    if (col >= 0 && lane_score(&s->lane[0], s, tile, col, &x))
        nodes[NODE_S].held = (struct held){.is = true, .value = x, .exact = {NAN, 0}};
}

static void draw_node(const struct divergence_core *c, const struct node *n,
                      const struct tree_size *size, double x, double y, struct drawing *d)
{
    const struct held *h = &n->held;
    struct words value = number_words(h->value);
    struct words drift = drift_words(h->is ? drift_in(c->format, h->value, h->exact) : 0);
    struct value_cell cell = {.box = {x, y, CELL_WIDE, size->cell},
                              .symbol = n->symbol,
                              .value = h->is ? value.text : "",
                              .note = h->is && !isnan(h->exact[0]) ? drift.text : "",
                              .fill = n->gone ? INK_PANEL
                                      : h->is ? INK_CELL
                                              : INK_WAITING,
                              .line = h->is ? INK_QUIET : INK_RULE,
                              .type = size->cell < 36 ? 11 : 13};
    draw_cell(d, &cell);
    draw_fitted(d, FACE_SANS, 10.5, ALIGN_LEFT, INK_QUIET, x, y + size->cell + 11,
                n->row >= 2 && n->col == 0 ? 2 * STEP_WIDE - 6 : STEP_WIDE - 6, n->made);
}

static void draw_tree(const struct divergence_view *v, const struct instant *now, bool large,
                      double x, double y, struct drawing *d)
{
    struct node nodes[NODES];
    char p[64], score[64];
    const struct tree_size *size = &tree_sizes[large];
    fill_nodes(&v->element.story, now, nodes, p, score, sizeof p);
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, x, y - 8,
              large ? "the numbers that make it; small: off by ulp of %s"
                    : "the numbers that make it, now; small figures: off by so many ulp of %s",
              format_info(v->core->format)->name);
    for (int n = 0; n < EDGES; n++) {
        const struct node *from = &nodes[edges[n].from], *to = &nodes[edges[n].to];
        double side = to->col < from->col ? CELL_WIDE : to->col > from->col ? 0 : CELL_WIDE / 2.0;
        bool level = to->col != from->col && from->row - to->row == 1;
        draw_arrow(d, x + STEP_WIDE * from->col + CELL_WIDE / 2.0, y + size->step * from->row,
                   x + STEP_WIDE * to->col + (level ? side : CELL_WIDE / 2.0),
                   y + size->step * to->row + size->cell + 14, INK_QUIET, 1);
    }
    for (int n = 0; n < NODES; n++)
        draw_node(v->core, &nodes[n], size, x + STEP_WIDE * nodes[n].col,
                  y + size->step * nodes[n].row, d);
}

/* "1 01110011 0010000": sign, exponent, fraction. */
static void bits_of(enum format f, double x, char *text)
{
    uint64_t bits = format_encode(f, x);
    int all = format_info(f)->bits, fraction = format_info(f)->precision - 1;
    for (int i = all - 1; i >= 0; i--) {
        *text++ = (char)('0' + (bits >> i & 1));
        if (i == all - 1 || i == fraction)
            *text++ = ' ';
    }
    *text = 0;
}

static void draw_neighbours(const struct divergence_view *v, struct box b, struct drawing *d)
{
    const struct divergence_core *c = v->core;
    double value = c->stored[v->chosen];
    bool known = isfinite(value) && format_round(c->format, value, false) == value;
    char line[160], bits[80];
    draw_text(d, FACE_BOLD, 12, ALIGN_LEFT, INK_TEXT, b.x, b.y,
              "%s as stored, between its neighbours", divergence_name(v, v->chosen).text);
    for (int n = 1; n >= -1 && known; n--) {
        double x = n == 0 ? value : format_next(c->format, value, n);
        double y = b.y + 19 + 17 * (1 - n);
        if (n == 0)
            draw_rect(d, (struct box){b.x - 4, y - 12.5, b.w, 16}, INK_CHANGED, INK_NONE);
        if (!isfinite(x))
            continue;
        bits_of(c->format, x, bits);
        snprintf(line, sizeof line, "%-14s 0x%0*" PRIX64 "  %s", number_words(x).text,
                 format_info(c->format)->bits / 4, format_encode(c->format, x), bits);
        draw_fitted(d, FACE_MONO, 11.5, ALIGN_LEFT, INK_TEXT, b.x, y, b.w - 8, line);
    }
    draw_text(d, FACE_SANS, 12, ALIGN_LEFT, INK_ALARM, b.x, b.y + 72,
              "exact %s, so it is off by %s ulp of %s", number_words(c->exact[v->chosen][0]).text,
              drift_words(c->drift[v->chosen]).text, format_info(c->format)->name);
}

/* Double type: the map, the tree, and the number itself. */
static void draw_large(const struct divergence_view *v, const struct instant *now, struct box stage,
                       struct drawing *d)
{
    const struct divergence_core *c = v->core;
    struct box map = {stage.x + 44, stage.y + 34, 180, 84};
    char line[160];
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, stage.x, map.y - 22,
              "size of each output's error; K: next");
    divergence_draw_heat(v, map, d);
    draw_shades(c, map.x, map.y + map.h + 10, true, d);
    draw_tree(v, now, true, stage.x + 242, stage.y + 12, d);
    snprintf(line, sizeof line, "%s = %s", divergence_name(v, v->chosen).text,
             number_words(c->stored[v->chosen]).text);
    draw_fitted(d, FACE_BOLD, 11, ALIGN_LEFT, INK_TEXT, stage.x, stage.y + 200, 230, line);
    snprintf(line, sizeof line, "exact %s, off by %s ulp",
             number_words(c->exact[v->chosen][0]).text, drift_words(c->drift[v->chosen]).text);
    draw_fitted(d, FACE_SANS, 11, ALIGN_LEFT, INK_ALARM, stage.x, stage.y + 218, 230, line);
}

void divergence_draw_where(const struct divergence_view *v, const struct look *look,
                           struct box stage, struct drawing *d)
{
    struct instant now = instant_at(&v->element.story, look->time);
    if (look->large) {
        draw_large(v, &now, stage, d);
        return;
    }
    struct box map = {stage.x + 84, stage.y + 36, 330, 222};
    double right = stage.x + 450;
    draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_QUIET, map.x, map.y - 24,
              "size of each output's error; click one, or K: the next worst");
    divergence_draw_heat(v, map, d);
    draw_shades(v->core, map.x, map.y + map.h + 12, false, d);
    draw_tree(v, &now, false, right, stage.y + 20, d);
    draw_neighbours(v, (struct box){right, stage.y + 292, stage.w - right + stage.x, 0}, d);
    double top = stage.y + 394;
    draw_drift(&v->element, look,
               (struct box){TRACK_LEFT, top, TRACK_RIGHT - TRACK_LEFT, stage.y + stage.h - 6 - top},
               d);
}
