/* arrivals.h: dQ under atomic adds: how many results there are, over the orders in which the key
   tiles' parts may arrive.

   dK and dV do not depend on it: one thread block sums each.  For every query tile the orders are
   all permutations of the key tiles it meets, or drawn ones; its results are compared bit by bit,
   as summed and as stored. */
#ifndef FLASHULP_ARRIVALS_H
#define FLASHULP_ARRIVALS_H

#include "simulator/simulate.h"

enum { ARRIVALS_MOST_TILES = 8 }; /* for all orders: 8! = 40,320 */

/* One view of dQ: in DQ_SUM's format, or stored in GRADIENT's. */
struct arrivals_view {
    int64_t distinct_most; /* results of the query tile that has the most */
    int64_t varying;       /* elements of dQ that some order changes */
    double max_ulp;        /* widest spread of one element, in ulps of its format */
    int64_t batch, head, row, dim; /* where */
    double low, high;
};

/* What dQ[d] of the first query may be as stored: the values in the order in which they were met, and
   how many orders gave each; value[0] is that of the first order, which is ascending unless drawn. */
enum { ARRIVALS_SHOWN = 4, ARRIVALS_VALUES = 64 };
struct arrivals_results {
    int count; /* at most ARRIVALS_VALUES; what does not fit is left out */
    double value[ARRIVALS_VALUES];
    int64_t orders[ARRIVALS_VALUES];
};

struct arrivals {
    int64_t query_tiles, elements, orders; /* orders: of the query tile that has the most */
    int64_t most_met;                      /* key tiles that a query tile meets, at most */
    struct arrivals_view sum, stored;
    int shown; /* columns of the first query: D, or ARRIVALS_SHOWN */
    struct arrivals_results results[ARRIVALS_SHOWN];
};

/* `draws` orders a query tile, or with 0 all of them, which ARRIVALS_MOST_TILES bounds; the
   simulation's choices say dq_drawn. */
bool study_arrivals(const struct problem *p, const struct tensor *dO, const struct simulation *s,
                    int64_t draws, struct arrivals *a, struct message *why);

#endif
