/* cost_work.c: operations and bytes of a cell, a block, a launch.

   In a cell of Br queries, Bc keys, head size D, of W warps.  Forward: max, fma of the exponent,
   sum and conversion of P take an operation an element of S, rescaling one an element of O.
   Backward (arXiv 2307.08691, Algorithm 2): fma of the exponent, dP - D, its product with P, two
   conversions. */
#include "simulator/cost.h"

enum { ELEMENT = 2, FLOAT = 4 };

struct sizes {
    double Br, Bc, D, W, S, O; /* S = Br Bc, O = Br D */
};

static struct sizes sizes_of(const struct grid *g)
{
    struct sizes z = {g->tile.Br, g->tile.Bc, (double)g->shape.dim, g->tile.warps, 0, 0};
    z.S = z.Br * z.Bc;
    z.O = z.Br * z.D;
    return z;
}

/* Split-Q: K and V are written once and read by every warp, Q by the warp that owns the rows. */
static struct work forward_cell(struct sizes z)
{
    double keys = 2 * z.Bc * z.D;
    return (struct work){4 * z.S * z.D, 4 * z.S + z.O + 4 * z.Br, z.S + z.Br,
                         ELEMENT * (keys + z.W * keys + z.O)};
}

/* Split-K: every warp reads all of Q and its own part of K and V; maxima, sums and partial outputs
   of all warps go through shared memory, where a read of all follows a write of each. */
static struct work fa1_cell(struct sizes z)
{
    double keys = 2 * z.Bc * z.D;
    double exchanged = z.W * (z.O + 2 * z.Br) + z.W * (z.O + 2 * z.Br * z.W);
    return (struct work){4 * z.S * z.D, 4 * z.S + (z.W + 1) * z.O + 7 * z.Br, z.S + 3 * z.Br,
                         ELEMENT * (z.O + z.W * z.O + keys) + FLOAT * exchanged};
}

/* Each operand of the five products counted once, P and dS written and read twice. */
static struct work backward_cell(struct sizes z)
{
    double operands = 4 * z.O + 3 * z.Bc * z.D, tiles = 2 * z.O + 2 * 3 * z.S;
    return (struct work){10 * z.S * z.D, 5 * z.S + z.Br, z.S, ELEMENT * (operands + tiles)};
}

struct work work_cell(const struct grid *g, enum cell c)
{
    struct sizes z = sizes_of(g);
    struct work w = g->kernel == PLAN_KERNEL_FA1        ? fa1_cell(z)
                    : g->kernel == PLAN_KERNEL_BACKWARD ? backward_cell(z)
                                                        : forward_cell(z);
    if (c == CELL_MASKED)
        w.other += z.S;
    return w;
}

/* Normalised and rounded output, LSE; less what the first cell spares: it rescales nothing. */
struct work work_block(const struct grid *g)
{
    struct sizes z = sizes_of(g);
    double rows = (double)g->row_tiles;
    switch (g->kernel) {
    case PLAN_KERNEL_FA1:
        return (struct work){0, -4 * z.Br * rows, -z.Br * rows, 0};
    case PLAN_KERNEL_BACKWARD:
        return (struct work){0, 3 * z.Bc * z.D, 0, ELEMENT * 4 * z.Bc * z.D};
    default:
        return (struct work){0, z.O - z.Br, z.Br, ELEMENT * z.O};
    }
}

static double pairs(const struct grid *g)
{
    double rows = (double)g->rows, keys = (double)g->shape.len_k;
    if (!g->shape.causal || g->kernel == PLAN_KERNEL_DECODE)
        return rows * keys;
    double seeing =
        rows < keys ? rows : keys; /* the last row sees all keys, each above it one less */
    return seeing * (2 * keys - seeing + 1) / 2;
}

double useful_flops(const struct grid *g)
{
    double products = g->kernel == PLAN_KERNEL_BACKWARD ? 10 : 4;
    return products * (double)g->shape.dim * pairs(g) * (double)g->heads;
}

/* Beyond reading and writing each tensor once, by all blocks of a head. */
static double asked_again(const struct grid *g, struct sizes z, double cells)
{
    double rows = (double)g->rows, keys = (double)g->shape.len_k;
    double again = 0;
    switch (g->kernel) {
    case PLAN_KERNEL_FA1: /* Q again; O and LSE read and written in fp32 for every key tile */
        again = cells * (ELEMENT * z.O + 2 * FLOAT * (z.O + z.Br)) - ELEMENT * rows * z.D;
        break;
    case PLAN_KERNEL_BACKWARD: /* Q and dO again; dQ added to in fp32 */
        again = cells * (2 * ELEMENT * z.O + 2 * FLOAT * z.O) - 2 * ELEMENT * rows * z.D;
        break;
    default:
        again = cells * 2 * ELEMENT * z.Bc * z.D - 2 * ELEMENT * keys * z.D;
    }
    return again > 0 ? again : 0;
}

struct traffic grid_traffic(const struct grid *g)
{
    const struct attention_shape *s = &g->shape;
    struct sizes z = sizes_of(g);
    struct cells c = grid_head(g);
    double queries = (double)s->batch * (double)s->heads_q * (double)s->len_q;
    double keys = (double)s->batch * (double)s->heads_kv * (double)s->len_k;
    double groups = (double)s->heads_q / (double)s->heads_kv;
    double cells = (double)(c.masked + c.plain), heads = (double)g->heads;
    struct traffic t = {ELEMENT * z.D * (2 * queries + 2 * keys) + FLOAT * queries, 0};
    if (g->kernel == PLAN_KERNEL_BACKWARD) /* Q O dO dQ, K V, LSE D; dK dV of every query head */
        t.once = ELEMENT * z.D * (4 * queries + 2 * keys + 2 * keys * groups) + 3 * FLOAT * queries;
    t.again = heads * asked_again(g, z, cells);
    if (g->kernel == PLAN_KERNEL_BACKWARD) { /* dQ in fp32: zeroed, read; the group's sum */
        t.again += 2 * FLOAT * queries * z.D;
        if (groups > 1)
            t.again += ELEMENT * z.D * 2 * keys * (groups + 1);
    }
    if (g->kernel == PLAN_KERNEL_DECODE && g->splits > 1) /* partial O and LSE, written and read */
        t.again += 2 * FLOAT * (double)g->splits * (double)g->rows * heads * (z.D + 1);
    return t;
}
