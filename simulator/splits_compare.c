/* splits_compare.c: two plans side by side: do they cut a sequence alike, where do their boundaries
   meet, does a row keep its groups from one launch to the other. */
#include <assert.h>

#include "simulator/splits_parts.h"

/* Pieces beyond `tokens` and groups that never come round again show nothing: they are cut off, so
   that equal cuttings are equal groups. */
struct split_cutting split_cutting(const struct split_plan *p, int64_t length, int64_t tokens)
{
    struct split_cutting c = {split_blocks(p, length) * p->block_tokens, 0};
    assert(0 <= tokens && tokens <= length);
    if (p->order == GROUPS_ROUND_ROBIN) {
        int64_t groups = split_count(p, length), pieces = ceil_div(tokens, p->block_tokens);
        c = (struct split_cutting){groups > 1 ? p->block_tokens : tokens, groups};
        if (groups == 1 || groups >= pieces)
            c.wrap = 0;
    }
    c.cut = smaller(c.cut, tokens);
    return c;
}

static bool cut_alike(const struct split_plan *a, int64_t length_a, const struct split_plan *b,
                      int64_t length_b)
{
    int64_t tokens = smaller(length_a, length_b);
    struct split_cutting x = split_cutting(a, length_a, tokens),
                         y = split_cutting(b, length_b, tokens);
    return x.cut == y.cut && x.wrap == y.wrap;
}

bool split_alike(const struct split_plan *a, const struct split_plan *b, int64_t length)
{
    return cut_alike(a, length, b, length);
}

bool split_certain(const struct split_plan *a, const struct split_plan *b)
{
    return !a->bound && !b->bound && !a->undecided && !b->undecided;
}

bool split_kept(const struct split_plan *a, int64_t length_a, const struct split_plan *b,
                int64_t length_b)
{
    bool one_a = split_count(a, length_a) == 1, one_b = split_count(b, length_b) == 1;
    return cut_alike(a, length_a, b, length_b) && one_a == one_b && a->lanes == b->lanes;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t split_shared(const struct split_plan *const *plans, int count, int64_t length)
{
    int64_t every = 1;
    for (int i = 0; i < count; i++) {
        int64_t cut = split_cutting(plans[i], length, length).cut;
        if (plans[i]->order != GROUPS_CONTIGUOUS || cut == 0)
            return 0;
        every = every / common_divisor(every, cut) * cut; /* below length^2: no overflow */
        if (every >= length)
            return 0;
    }
    return every;
}
