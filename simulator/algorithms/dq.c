/* dq.c: dQ in memory.  Key tiles work side by side and all add to the same rows of dQ: by atomic
   adds in whatever order they arrive, or, to be deterministic, each to one of several copies. */
#include "simulator/algorithms/backward.h"

#include <stdlib.h>

void gradients_new(struct run *r, struct attention *x)
{
    int D = (int)x->head->D, Nq = (int)x->head->Nq, Nk = (int)x->head->Nk;
    x->dQ = tile_new(r, TENSOR_DQ, Nq, D);
    x->dK = tile_new(r, TENSOR_DK, Nk, D);
    x->dV = tile_new(r, TENSOR_DV, Nk, D);
    x->dS_sum = tile_new(r, TENSOR_DS_SUM, Nq, 1);
    if (x->choices.dq_drawn)
        x->choices.dq_copies = key_tiles(x);
    if (x->choices.dq_copies == 0)
        x->choices.dq_copies = 1;
    x->dQ_memory = tile_new(r, TENSOR_DQ, x->choices.dq_copies * query_tiles(x) * x->choices.Br, D);
}

static int place(const struct attention *x, int copy, int i)
{
    return (copy * query_tiles(x) + i) * x->choices.Br;
}

void add_to_dq(struct run *r, struct attention *x, struct tile *room, const struct tile *part, int i,
               int j)
{
    int at = place(x, j % x->choices.dq_copies, i);
    take_block(r, room, x->dQ_memory, at, 0);
    add(r, room, room, part, SITE_DQ_SUM);                              note(r, STEP_DQ, room);
    put_block(r, x->dQ_memory, at, 0, room);
}

void sum_dq(struct run *r, const struct attention *x, struct tile *dQ, struct tile *room, int i,
            const int *order, int count)
{
    fill(r, dQ, 0);
    for (int n = 0; n < count; n++) {
        take_block(r, room, x->dQ_memory, place(x, order[n], i), 0);
        add(r, dQ, dQ, room, SITE_DQ_SUM);
    }
}

void conclude_dq(struct run *r, struct tile *dQ, const struct tile *scale)
{
    mul(r, dQ, dQ, scale, SITE_GRADIENT_SCALE);
    round_at(r, dQ, SITE_GRADIENT);                                     note(r, STEP_GRADIENT, dQ);
}

void finish_dq(struct run *r, struct attention *x, struct tile *dQ, struct tile *room,
               struct tile *dS_sum, const struct tile *scale, const struct tile *all_sums)
{
    int *order = malloc(((size_t)x->choices.dq_copies + 1) * sizeof *order);
    if (order == NULL)
        abort();
    for (int i = 0; i < query_tiles(x); i++) {
        r->where.i = (uint32_t)i;
        sum_dq(r, x, dQ, room, i, order, dq_order(x, i, order));
        if (x->choices.dq_copies > 1)
            note(r, STEP_DQ_COPIES, dQ);
        conclude_dq(r, dQ, scale);
        take_block(r, dS_sum, all_sums, i * x->choices.Br, 0);
        store_query_gradient(r, x, i, dQ, dS_sum);
    }
    free(order);
}
