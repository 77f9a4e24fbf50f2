/* oracle_groups.h: a judge for algorithm decode: one query row at a time, one number at a time.

   The problem, the formats and the tile come as in oracle_attention.h (o->row_tile is 1 here); a
   row's key tiles, visited when the row sees a key of them, are dealt to groups.
   Link tests/oracle_groups.c, tests/oracle_attention.c and tests/oracle_number.c. */
#ifndef FLASHULP_TESTS_ORACLE_GROUPS_H
#define FLASHULP_TESTS_ORACLE_GROUPS_H

#include "tests/oracle_attention.h"

struct oracle_groups {
    int64_t groups;         /* how many */
    int64_t tiles;          /* of neighbouring tiles in a group; 0: tile j goes to group j mod groups */
    const char *merge;      /* lse lse-sum max-sum normalised-max-sum running */
    bool running_max;       /* weights relative to a maximum that grows tile by tile */
    bool sum_rounded;       /* l sums weights rounded at PROB */
};

/* O: Nq x D, lse: Nq. */
void oracle_grouped(const struct oracle *o, const struct oracle_groups *g, double *O, double *lse);

#endif
