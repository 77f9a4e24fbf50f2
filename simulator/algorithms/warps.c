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

void rescale_state(struct run *r, struct state *s)
{
    exp_shift(r, s->decay, s->decay, s->m, SITE_RESCALE_ARG, SITE_RESCALE);
    mul(r, s->l, s->l, s->decay, SITE_ROW_SUM);
    mul(r, s->O, s->O, s->decay, SITE_RESCALE_OUT);                     note(r, STEP_RESCALE, s->decay);
                                                                        note(r, STEP_RESCALE, s->l);
                                                                        note(r, STEP_RESCALE, s->O);
}
