/* battery_gradient.h: the backward half of the battery: gradients of sum dO . O that a program
   gave, and the mistakes known of them.

   Judged in every case whose numbers are finite, without softcap and without spare keys: against
   the certified gradients, inside four times the a-priori bound of a backward pass whose P and dS
   are rounded to the inputs' format. */
#ifndef FLASHULP_BATTERY_GRADIENT_H
#define FLASHULP_BATTERY_GRADIENT_H

#include "simulator/battery.h"

/* What is done wrongly; all zero: nothing. */
struct gradient_mistake {
    bool poison, zero, no_delta, no_scale, scale_twice, unnormalised, no_p, ds_in_dv,
        dv_overwritten, no_causal, top_left, no_window, base_2, empty_nan, no_dq;
    int group;         /* of the heads that share a key head: 1 the last one counts, 2 the first,
                           3 their mean */
    bool last_queries; /* dK and dV hold only the last tile of queries */
    bool last_keys;    /* dQ holds only the last tile of keys */
};
struct gradient_mistake_info {
    const char *name;
    bool tiles;
    const char *sentence; /* with %s for the tile's rows or keys if `tiles` */
    struct gradient_mistake mistake;
};
const struct gradient_mistake_info *gradient_mistake_info(int n); /* NULL behind the last */
struct mistake_text gradient_mistake_text(const struct gradient_mistake_info *info,
                                          const char *keys);

/* Has the case gradients that are judged? */
bool battery_has_gradients(const struct battery_input *in);

/* In double: dQ[B,Hq,Nq,D], dK and dV[B,Hkv,Nk,D] in C order. */
void mistaken_gradients(const struct battery_input *in, const struct gradient_mistake *m, int tile,
                        double *dQ, double *dK, double *dV);

/* The three arrays have the right shapes. */
void battery_judge_gradients(const struct battery_input *in, const struct tensor *dQ,
                             const struct tensor *dK, const struct tensor *dV,
                             struct battery_verdict *v);

#endif
