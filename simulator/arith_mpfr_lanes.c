/* arith_mpfr_lanes.c: sums as the lanes of a warp take them, in the MPFR arithmetic. */
#include <assert.h>

#include "simulator/arith_mpfr_sums.h"

/* sum = lane t's terms in ascending order, added to it where it has `begun`, or starting it; with a
   decay the first joins sum decay in one rounding. */
static void lane_sum(struct sum *s, int t, mpfr_ptr sum, bool begun, mpfr_srcptr decay)
{
    const struct order_lanes *o = s->order->lanes;
    for (int c = 0; c < s->count; c++) {
        if (o->owner[c % o->period] != t)
            continue;
        if (begun) {
            sum_step(s, sum, &s->terms[c]);
        } else {
            sum_leaf(s, s->work.term, &s->terms[c]);
            if (decay != NULL)
                round_fma(&s->work.at, sum, sum, decay, s->work.term);
            else
                mpfr_set(sum, s->work.term, MPFR_RNDN);
        }
        begun = true;
    }
    if (!begun && decay != NULL)
        round_mul(&s->work.at, sum, sum, decay);
    else if (!begun)
        mpfr_set_zero(sum, 1);
}

void sum_butterfly(struct sum *s)
{
    const struct order_lanes *o = s->order->lanes;
    for (int n = 0; n < o->offsets; n++) {
        for (int t = 0; t < o->lanes; t++)
            mpfr_set(s->stack[o->lanes + t], s->stack[t], MPFR_RNDN);
        for (int t = 0; t < o->lanes; t++)
            round_add(&s->work.at, s->stack[t], s->stack[o->lanes + t],
                      s->stack[o->lanes + (t ^ o->offset[n])]);
    }
}

mpfr_srcptr sum_lanes(struct sum *s)
{
    for (int t = 0; t < s->order->lanes->lanes; t++)
        lane_sum(s, t, s->stack[t], false, NULL);
    sum_butterfly(s);
    return s->stack[0];
}

void sum_lanes_apart(struct sum *s, const struct tile *dst, int row, mpfr_srcptr decay)
{
    bool fused = s->order->lanes->fused;
    assert(dst->cols == s->order->lanes->lanes);
    for (int t = 0; t < dst->cols; t++) {
        mpfr_ptr lane = element(dst, row, t);
        if (s->start == START_RESCALED && !fused)
            round_mul(&s->work.at, lane, lane, decay);
        bool begun = s->start == START_ACCUMULATOR || (s->start == START_RESCALED && !fused);
        lane_sum(s, t, lane, begun, s->start == START_RESCALED && fused ? decay : NULL);
    }
}
