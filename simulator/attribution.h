/* attribution.h: which rounding moved an output, and by how much.

   Of one head of a simulation, everything before OUT, the last rounding.  A site's contribution in
   situ is what an exact run's outputs change by when that site's recorded errors, and no others,
   are put back (ledger.h).  Two counterfactuals beside it: `alone`, only this site rounds;
   `without`, all others do.  They answer other questions: sites interact, and a removed one
   changes what the rest round. */
#ifndef FLASHULP_ATTRIBUTION_H
#define FLASHULP_ATTRIBUTION_H

#include "simulator/simulate.h"

struct attribution {
    int64_t count;               /* Nq x D of the head, row-major; all arrays have as many */
    uint64_t sites;              /* that made an error before OUT: bit 1 << site */
    double *exact;               /* outputs of the run that never rounds */
    double *before;              /* the recorded run's, before OUT */
    double *in_situ[SITE_COUNT]; /* change of the exact output; NULL: not in `sites` */
    double *interaction;         /* (before - exact) less all contributions */
    /* Outputs, before OUT, of the counterfactual runs; NULL: not in `sites`, or not asked for. */
    double *alone[SITE_COUNT], *without[SITE_COUNT];
    bool stops; /* a call's error was not finite and counts as 0: from there on nothing is known */
    enum site stops_at; /* where */
    size_t ledger_bytes;
};

/* Exact runs are in mpfr where the head is small or the simulation is, otherwise in double. */
bool attribute(struct attribution *a, const struct simulation *s, const struct head *h,
               bool counterfactuals, struct message *why);
void attribution_free(struct attribution *a);
/* Element i without the site's rounding, stored at OUT. */
double attribution_without(const struct attribution *a, const struct simulation *s, enum site site,
                           int64_t i);

/* Seconds it takes on one core, by measurement. */
double attribution_seconds(const struct simulation *s, const struct head *h, bool counterfactuals);

#endif
