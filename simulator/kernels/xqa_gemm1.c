/* xqa_gemm1.c: the second half of XQA: P V, and how running sums and tiles are put on one scale.

   flashinfer csrc/xqa/mha.cu.  A tile whose maximum is above the running one rescales what was summed;
   a tile whose maximum is below it is rescaled itself: its sum by an fp32 factor, its weights, already
   rounded, once more by the factor's rounding.  Factors of 1 change nothing, so every row may take
   both. */
#include "simulator/kernels/xqa.h"

/* Running sums and the tile's P (columns `first` on) and sum, on the scale of the larger maximum. */
static void rescale(struct run *r, struct xqa *s, struct xqa_worker *w)
{
    max_(r, s->top, w->G, s->m);                                        note(r, STEP_ROW_MAX, s->top);
    copy(r, s->decay, w->G);
    exponential(r, s->decay, s->top, s->log2e, SITE_RESCALE_ARG, SITE_RESCALE);
                                                                        note(r, STEP_RESCALE, s->decay);
    mul(r, w->L, w->L, s->decay, SITE_ROW_SUM);                         note(r, STEP_RESCALE, w->L);
    mul(r, w->O, w->O, s->decay, SITE_RESCALE_OUT);                     note(r, STEP_RESCALE, w->O);
    copy(r, s->shrink, s->m);
    exponential(r, s->shrink, s->top, s->log2e, SITE_RESCALE_ARG, SITE_RESCALE);
    mul(r, s->sum, s->sum, s->shrink, SITE_ROW_SUM);                    note(r, STEP_RESCALE, s->sum);
    copy(r, s->narrow, s->shrink);
    round_at(r, s->narrow, SITE_PROB_RESCALE);
    mul(r, s->part, s->part, s->narrow, SITE_PROB_RESCALE);             note(r, STEP_ROUND_P, s->part);
    copy(r, w->G, s->top);
}

static void absorb(struct run *r, struct xqa *s, struct xqa_worker *w, int first)
{
    take_block(r, s->part, s->P, 0, first);
    take_block(r, s->values, s->V, first, 0);
    copy(r, s->sum, s->l);
    if (!rows_equal(r, s->m, w->G))
        rescale(r, s, w);
    add(r, w->L, w->L, s->sum, SITE_ROW_SUM);                           note(r, STEP_ROW_SUM, w->L);
    mma_ab(r, w->O, s->part, s->values, SITE_PV_PRODUCT, SITE_OUT_ACC); note(r, STEP_PV, w->O);
}

void xqa_absorb(struct run *r, struct xqa *s, int warp)
{
    struct xqa_worker *w = &s->worker[s->sharing == XQA_BY_TILE ? warp % 2 : 0];
    bool moved = !rows_equal(r, s->m, w->G);
    absorb(r, s, w, 0);
    if (s->sharing == XQA_BY_TOKEN)
        absorb(r, s, &s->worker[1], s->part->cols);
    /* on sm_90 with two workers, hints 1 and 2 are never written */
    if (moved && !(s->sharing == XQA_BY_TILE && (warp == 1 || warp == 2)))
        copy(r, s->hint[warp], w->G);
}

/* Worker `own` on the common scale: its O, and the sum of both as it computes it. */
static void join(struct run *r, struct xqa *s, int own, struct tile *total)
{
    struct xqa_worker *w = &s->worker[own], *other = &s->worker[1 - own];
    copy(r, s->decay, w->G);
    exponential(r, s->decay, s->top, s->log2e, SITE_RESCALE_ARG, SITE_RESCALE);
    copy(r, s->shrink, other->G);
    exponential(r, s->shrink, s->top, s->log2e, SITE_RESCALE_ARG, SITE_RESCALE);
    mul(r, w->O, w->O, s->decay, SITE_RESCALE_OUT);                     note(r, STEP_RESCALE, w->O);
    mul(r, s->sum, other->L, s->shrink, SITE_ROW_SUM);
    fma_(r, total, w->L, s->decay, s->sum, SITE_ROW_SUM);               note(r, STEP_ROW_SUM, total);
}

/* O / L with a correctly rounded 1 / L; 0 where nothing was summed. */
static void normalize(struct run *r, struct xqa *s, struct tile *O, const struct tile *L,
                      enum site out)
{
    div_(r, s->decay, s->one, L, SITE_NORMALIZE);
    fill(r, s->shrink, 0);
    select_bad(r, s->decay, s->decay, L, s->shrink);
    mul(r, O, O, s->decay, SITE_NORMALIZE);                             note(r, STEP_NORMALIZE, O);
    round_at(r, O, out);                                                note(r, STEP_STORE, O);
}

void xqa_finish(struct run *r, struct xqa *s, enum site out)
{
    struct xqa_worker *w = s->worker;
    struct tile *total[2] = {s->l, s->bias};
    if (s->sharing == XQA_BY_TILE) {
        max_(r, s->top, w[0].G, w[1].G);
        join(r, s, 0, total[0]);
        join(r, s, 1, total[1]);
        for (int g = 0; g < 2; g++) {
            copy(r, w[g].L, total[g]);
            copy(r, w[g].G, s->top);
        }
    }
    for (int g = 0; g < s->workers; g++)
        normalize(r, s, w[g].O, w[g].L, out);
    if (s->workers == 2) {
        add(r, w[0].O, w[0].O, w[1].O, out);                            note(r, STEP_MERGE, w[0].O);
    }
}
