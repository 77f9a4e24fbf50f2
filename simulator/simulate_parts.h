/* simulate_parts.h: what simulate.c and gradient.c share. */
#ifndef FLASHULP_SIMULATE_PARTS_H
#define FLASHULP_SIMULATE_PARTS_H

#include "simulator/simulate.h"

/* Tiles and copies of dQ of the backward pass. */
struct choices backward_choices(const struct simulation *s, const struct head *h);

/* item(r, with, n) for n = 0 .. items - 1 in runs of the simulation, whose tiles are freed after each:
   shared among its threads, or on this one, in order, where it is traced or has a twin. */
typedef void share_item(struct run *r, void *with, int64_t n);
void share_items(const struct problem *p, const struct simulation *s, share_item *item, void *with,
                 int64_t items);

/* Explicit trees have a number of terms, owners' tables of columns; a sum of another length (for a
   table: a shorter one) is refused before it begins: "..., HAS TERMSHINT". */
bool order_fits(enum site site, const struct order *o, int terms, const char *has,
                const char *hint, struct message *why);
/* splitk cuts the sums over a tile's keys: an explicit tree over them is refused. */
bool warps_sum_so(const struct simulation *s, enum site site, struct message *why);
/* Do the policy's orders fit the forward listing's sums, and the faults the problem? */
bool forward_fits(const struct problem *p, const struct simulation *s, struct message *why);

/* The outputs of a simulation, without their digest; its alterations are of calls only. */
bool simulate_rows(const struct problem *p, const struct simulation *s, struct result *result,
                   struct message *why);

/* FNV-1a-64 over numbers in a format (exact: fp64), little-endian; begins with DIGEST_START. */
#define DIGEST_START UINT64_C(0xCBF29CE484222325)
uint64_t digest_numbers(uint64_t digest, enum format f, const double *x, int64_t n);

#endif
