/* warps.c: see warps.h. */
#include "simulator/algorithms/warps.h"

struct part part_of(int all, int warps, int w)
{
    int each = (all + warps - 1) / warps, first = w * each;
    if (first >= all)
        return (struct part){0, 0};
    return (struct part){first, all - first < each ? all - first : each};
}

int warps_of(const struct attention *x)
{
    enum { USUAL = 4 };
    return x->choices.warps > 0 ? x->choices.warps : USUAL;
}

int workers_of(int all, int warps)
{
    int each = (all + warps - 1) / warps;
    return each > 0 ? (all + each - 1) / each : 0;
}

struct visible seen_by_rows(const struct visible *tile, struct part rows)
{
    struct visible v = *tile;
    v.row0 += rows.first;
    return v;
}

struct visible seen_of_keys(const struct visible *tile, struct part keys)
{
    struct visible v = *tile;
    int left = v.count - keys.first;
    v.col0 += keys.first;
    v.cols = keys.count;
    v.count = left < 0 ? 0 : left < keys.count ? left : keys.count;
    return v;
}

void rescale_state(struct run *r, struct state *s)
{
    exp_shift(r, s->decay, s->decay, s->m, SITE_RESCALE_ARG, SITE_RESCALE);
    mul(r, s->l, s->l, s->decay, SITE_ROW_SUM);
    mul(r, s->O, s->O, s->decay, SITE_RESCALE_OUT);                     note(r, STEP_RESCALE, s->decay);
                                                                        note(r, STEP_RESCALE, s->l);
                                                                        note(r, STEP_RESCALE, s->O);
}
