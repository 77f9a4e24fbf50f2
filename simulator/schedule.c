/* schedule.c: the grid of a launch: which cells a block owns. */
#include "simulator/schedule.h"

#include <string.h>

static const struct {
    const char *name, *owns, *meaning;
} kernels[PLAN_KERNEL_COUNT] = {
#define PLAN_KERNEL(id, name, owns, meaning) {name, owns, meaning},
#include "simulator/plan.def"
#undef PLAN_KERNEL
};

const char *plan_kernel_name(enum plan_kernel k)
{
    return kernels[k].name;
}

const char *plan_kernel_owns(enum plan_kernel k)
{
    return kernels[k].owns;
}

const char *plan_kernel_meaning(enum plan_kernel k)
{
    return kernels[k].meaning;
}

bool plan_kernel_from_name(const char *name, enum plan_kernel *k, struct message *why)
{
    const char *names[PLAN_KERNEL_COUNT];
    for (int i = 0; i < PLAN_KERNEL_COUNT; i++) {
        names[i] = kernels[i].name;
        if (strcmp(name, names[i]) == 0) {
            *k = (enum plan_kernel)i;
            return true;
        }
    }
    const char *near = nearest_name(name, names, PLAN_KERNEL_COUNT);
    if (near != NULL)
        return refuse(why, "--kernel %.40s: plan knows no such launch; did you mean %s?", name,
                      near);
    return refuse(why, "--kernel %.40s: plan knows fa1, fa2, backward and decode", name);
}

static int64_t ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool causal(const struct grid *g)
{
    return g->shape.causal && g->kernel != PLAN_KERNEL_DECODE;
}

struct grid grid_of(enum plan_kernel kernel, const struct attention_shape *shape,
                    struct tiling tile, int64_t splits, int64_t split_tiles)
{
    struct grid g = {.kernel = kernel,
                     .shape = *shape,
                     .tile = tile,
                     .rows = shape->len_q,
                     .heads = shape->batch * shape->heads_q};
    if (kernel == PLAN_KERNEL_DECODE) { /* the heads of a group are rows of one tile */
        g.rows = shape->len_q * (shape->heads_q / shape->heads_kv);
        g.heads = shape->batch * shape->heads_kv;
        g.splits = splits;
        g.split_tiles = split_tiles;
    }
    g.row_tiles = ceiling(g.rows, tile.Br);
    g.key_tiles = ceiling(shape->len_k, tile.Bc);
    g.per_head = kernel == PLAN_KERNEL_FA1        ? 1
                 : kernel == PLAN_KERNEL_FA2      ? g.row_tiles
                 : kernel == PLAN_KERNEL_BACKWARD ? g.key_tiles
                                                  : g.row_tiles * g.splits;
    g.blocks = g.per_head * g.heads;
    return g;
}

/* Query tile i sees some of key tiles [0, n), and all of the first `plain`. */
static void visible_keys(const struct grid *g, int64_t i, int64_t *n, int64_t *plain)
{
    int64_t Br = g->tile.Br, Bc = g->tile.Bc, shift = g->shape.len_k - g->rows;
    int64_t first = i * Br + shift, last = least((i + 1) * Br, g->rows) - 1 + shift;
    *n = g->key_tiles;
    *plain = g->shape.len_k / Bc;
    if (!causal(g))
        return;
    *n = last < 0 ? 0 : least(last / Bc + 1, *n);
    *plain = least(first + 1 < 0 ? 0 : (first + 1) / Bc, least(*plain, *n));
}

enum cell grid_cell(const struct grid *g, int64_t i, int64_t j)
{
    int64_t n, plain;
    visible_keys(g, i, &n, &plain);
    return j >= n ? CELL_SKIPPED : j >= plain ? CELL_MASKED : CELL_PLAIN;
}

static void count_row(const struct grid *g, int64_t i, int64_t from, int64_t to, struct cells *c)
{
    int64_t n, plain;
    visible_keys(g, i, &n, &plain);
    int64_t seen = n < from ? 0 : least(n, to) - from;
    int64_t clean = plain < from ? 0 : least(plain, to) - from;
    c->skipped += to - from - seen;
    c->masked += seen - clean;
    c->plain += clean;
}

static void split_of(const struct grid *g, int64_t n, int64_t *i, int64_t *from, int64_t *to)
{
    int64_t split = n / g->row_tiles;
    *i = n % g->row_tiles;
    *from = least(split * g->split_tiles, g->key_tiles);
    *to = least(*from + g->split_tiles, g->key_tiles);
}

/* The first query tile that sees any of key tile j; row_tiles when none does. */
static int64_t first_row(const struct grid *g, int64_t j)
{
    int64_t row = j * g->tile.Bc - (g->shape.len_k - g->rows);
    if (!causal(g) || row <= 0)
        return 0;
    return least(row / g->tile.Br, g->row_tiles);
}

/* Down a key tile cells are skipped, then masked, then plain. */
static struct cells count_column(const struct grid *g, int64_t j)
{
    int64_t seen = first_row(g, j), from = seen, to = g->row_tiles;
    while (from < to) { /* the first plain one lies in [from, to] */
        int64_t middle = from + (to - from) / 2;
        if (grid_cell(g, middle, j) == CELL_PLAIN)
            to = middle;
        else
            from = middle + 1;
    }
    return (struct cells){seen, from - seen, g->row_tiles - from};
}

struct cells grid_block(const struct grid *g, int64_t n)
{
    struct cells c = {0};
    int64_t i, from, to, own = n % g->per_head;
    switch (g->kernel) {
    case PLAN_KERNEL_FA2:
        count_row(g, own, 0, g->key_tiles, &c);
        break;
    case PLAN_KERNEL_DECODE:
        split_of(g, own, &i, &from, &to);
        count_row(g, i, from, to, &c);
        break;
    case PLAN_KERNEL_BACKWARD:
        c = count_column(g, own);
        break;
    default:
        c = grid_head(g);
    }
    return c;
}

struct cells grid_head(const struct grid *g)
{
    struct cells c = {0};
    for (int64_t i = 0; i < g->row_tiles; i++)
        count_row(g, i, 0, g->key_tiles, &c);
    return c;
}

struct block_walk walk_block(const struct grid *g, int64_t n)
{
    struct block_walk w = {.grid = g};
    int64_t own = n % g->per_head, plain, seen;
    switch (g->kernel) {
    case PLAN_KERNEL_FA2:
    case PLAN_KERNEL_DECODE:
        w.i = own;
        w.to = g->key_tiles;
        if (g->kernel == PLAN_KERNEL_DECODE)
            split_of(g, own, &w.i, &w.from, &w.to);
        visible_keys(g, w.i, &seen, &plain);
        w.j = least(seen, w.to) - 1;
        w.done = w.j < w.from;
        break;
    case PLAN_KERNEL_BACKWARD:
        w.j = own;
        w.from = first_row(g, own);
        w.i = g->row_tiles - 1;
        w.done = w.i < w.from;
        break;
    default:
        w.i = first_row(g, 0);
        w.done = w.i >= g->row_tiles;
    }
    return w;
}

bool walk_next(struct block_walk *w, int64_t *i, int64_t *j)
{
    const struct grid *g = w->grid;
    if (w->done)
        return false;
    *i = w->i;
    *j = w->j;
    switch (g->kernel) {
    case PLAN_KERNEL_FA2:
    case PLAN_KERNEL_DECODE:
        w->done = --w->j < w->from;
        break;
    case PLAN_KERNEL_BACKWARD:
        w->done = --w->i < w->from;
        break;
    default:
        if (++w->i < g->row_tiles)
            break;
        w->done = ++w->j == g->key_tiles;
        w->i = w->done ? 0 : first_row(g, w->j);
        w->done = w->done || w->i >= g->row_tiles;
    }
    return true;
}
