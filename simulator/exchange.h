/* exchange.h: what the warps of a block exchange through shared memory: a listing's calls, counted.

   Q, K, V and dO tiles and those named SHARED lie in shared memory.  load writes them, all warps together;
   put_block writes and take_block reads them, the warp of r->where.  A barrier is counted where one
   is needed: before a warp reads what another has written since the last one, and before anything
   is written that another warp has read since.  Nothing is computed. */
#ifndef FLASHULP_EXCHANGE_H
#define FLASHULP_EXCHANGE_H

#include "simulator/simulate.h"

enum { EXCHANGE_WARPS = 32, EXCHANGE_TILES = 8 };

struct warp_exchange {
    int64_t held;          /* bytes of registers: of its share of S or P, of O or the gradients */
    int64_t inputs;        /* bytes of Q, K, V, dO read from shared memory */
    int64_t reads, writes; /* of partial results: statistics, sums; backward also P and dS */
    int64_t sums;          /* of these, what is a sum that other warps have the rest of */
    int64_t waits;         /* barriers it stands at whose cause is another warp's partial result */
};

struct exchange {
    int warps;
    struct warp_exchange warp[EXCHANGE_WARPS];
    int64_t loaded;   /* bytes of Q, K, V, dO written to shared memory */
    int64_t barriers; /* of the block, those for loaded tiles included */
    int64_t shared;   /* bytes of shared memory taken up */
};

/* Of splitk or splitq on this head, in the policy's formats. */
void exchange_count(const struct simulation *s, const struct head *h, struct exchange *e);
/* Of the backward pass after it; dO as in gradient.h. */
void exchange_count_backward(const struct simulation *s, const struct head *h,
                             const struct tensor *dO, struct exchange *e);

/* What one more key tile costs a block whose warps share a tile of bf16 by rows or by keys. */
struct tile_exchange {
    int64_t barriers, results, shared; /* bytes of results written and read; of shared memory in all */
};
struct tile_exchange exchange_of_tile(bool by_rows, bool backward, int Br, int Bc, int D, int warps);

#endif
