/* scenario_pages.h: --block-table, --page-size, --kv-length. */
#ifndef FLASHULP_SCENARIO_PAGES_H
#define FLASHULP_SCENARIO_PAGES_H

#include "simulator/scenario_parts.h"

/* K and V of p, a pool of pages, become the sequence's own keys and values in their order; without
   --block-table nothing happens.  Refused: pages outside the pool, lengths the table does not hold. */
bool problem_from_pages(const struct scenario *s, struct problem *p, char **remarks,
                        struct message *why);

#endif
