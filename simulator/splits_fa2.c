/* splits_fa2.c: FlashAttention-2's num_splits_heuristic, in its own number formats.

   flash_attn/flash_api.cpp: the test for a full GPU is a product in fp32, the efficiency a quotient
   in fp32, the threshold 0.85 times it in double.  No count is tried above 128. */
#include <math.h>

#include "simulator/splits_parts.h"

enum { MOST_SPLITS = 128, ROWS_PER_BLOCK = 64 };

float split_fa2_efficiency(int64_t work, int64_t capacity, int splits)
{
    float waves = (float)(work * splits) / (float)capacity;
    return waves / ceilf(waves);
}

/* A count that only leaves its last group empty is none. */
bool split_fa2_eligible(int64_t blocks, int splits)
{
    return splits == 1 || ceil_div(blocks, splits) != ceil_div(blocks, splits - 1);
}

static int smallest_good(const struct split_weighing *w, int64_t blocks)
{
    for (int s = 1; s <= w->most; s++)
        if (split_fa2_eligible(blocks, s) &&
            (double)split_fa2_efficiency(w->work, w->capacity, s) >= w->needed)
            return s;
    return 1;
}

static int heuristic(struct split_weighing *w, int64_t blocks)
{
    w->full = (float)w->work >= 0.8f * (float)w->capacity;
    if (w->full)
        return 1;
    w->most = (int)smaller(MOST_SPLITS, smaller(w->capacity, blocks));
    for (int s = 1; s <= w->most; s++) {
        if (!split_fa2_eligible(blocks, s))
            continue;
        float efficiency = split_fa2_efficiency(w->work, w->capacity, s);
        w->eligible++;
        if (efficiency > w->best_efficiency) {
            w->best_efficiency = efficiency;
            w->best = s;
        }
    }
    w->needed = 0.85 * (double)w->best_efficiency;
    int splits = smallest_good(w, blocks);
    w->efficiency = split_fa2_efficiency(w->work, w->capacity, splits);
    return splits;
}

/* One query: the heads of a KV head become rows of one block, and there are KV heads only. */
static bool swaps(const struct launch *l)
{
    return l->len_q == 1 && l->heads_q > l->heads_kv && l->dim % 8 == 0 &&
           split_option(l, SPLIT_OPTION_FA2_SWAP) == 1;
}

/* Head sizes are rounded up to one of these. */
static int64_t bucket(int64_t dim)
{
    static const int64_t buckets[] = {32, 64, 96, 128, 192, 256};
    int i = 0;
    while (buckets[i] < dim)
        i++;
    return buckets[i];
}

/* The combine gives a row 128 threads over its 4, 8 or 16 rows, at most as many as the count's next
   power of two. */
static int combine_lanes(int splits, int64_t dim)
{
    int most = dim % 128 == 0 ? 32 : dim % 64 == 0 ? 16 : 8, lanes = 1;
    while (lanes < splits && lanes < most)
        lanes *= 2;
    return lanes;
}

bool split_fa2(const struct launch *l, int factor, struct split_plan *p, struct message *why)
{
    struct split_weighing *w = &p->weighing;
    w->swapped = swaps(l);
    int64_t heads = w->swapped ? l->heads_kv : l->heads_q,
            rows = w->swapped ? l->heads_q / l->heads_kv : l->len_q;
    w->work = l->batch * heads * ceil_div(rows, ROWS_PER_BLOCK);
    w->capacity = (int64_t)factor * l->sms;
    p->block_tokens = l->dim <= 64 ? 256 : l->dim <= 128 ? 128 : 64;
    p->length = launch_capacity(l);
    if (w->work > INT32_MAX / MOST_SPLITS)
        return refuse(why, "the work of this launch, batch x heads x query blocks, is past the "
                           "kernel's 32-bit counter");
    p->splits = l->num_splits;
    if (p->splits == 0)
        p->splits = heuristic(w, ceil_div(p->length, p->block_tokens));
    p->lanes = combine_lanes(p->splits, bucket(l->dim));
    return true;
}
