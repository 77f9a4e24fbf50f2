/* ledger.h: every rounding error of a run, and exact runs into which chosen ones are put back.

   Recording logs, call by call, the run's result minus the exact verb on the same operands, under
   the site that rounded.  Replaying performs the same algorithm exactly and adds the logged errors
   of the chosen sites only: the change of the output is those sites' contribution, in situ.
   Decisions taken on data (rows_equal) are logged and repeated.  Invariants: all sites replayed give
   the recorded run; contributions add up, to second order. */
#ifndef FLASHULP_LEDGER_H
#define FLASHULP_LEDGER_H

#include "simulator/arith.h"

struct ledger *ledger_new(void);
void ledger_free(struct ledger *l);
size_t ledger_bytes(const struct ledger *l);
/* A non-finite error was met (and logged as 0) at this call; -1: none.  There attribution stops. */
int64_t ledger_first_nonfinite(const struct ledger *l);
enum site ledger_nonfinite_site(const struct ledger *l); /* of that call; SITE_NONE: there is none */
/* Sites at which some error was not 0: bit 1 << site. */
uint64_t ledger_sites(const struct ledger *l);

/* r records from here on.  Exact verbs run in `exact` (double, or mpfr at `precision`). */
void ledger_record(struct ledger *l, struct run *r, const struct arithmetic *exact, int precision);
/* r, a run with exact sites only, repeats the recorded algorithm from its beginning, with the
   errors of the sites whose bit is set in `sites` (1 << site) added. */
void ledger_replay(struct ledger *l, struct run *r, uint64_t sites);
/* The replaying run has made every recorded call. */
bool ledger_finished(const struct ledger *l);

bool ledger_replays(const struct ledger *l);
void ledger_decide(struct ledger *l, bool decision);
bool ledger_decision(struct ledger *l);

#endif
