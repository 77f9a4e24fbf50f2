/* simulate_parts.h: what simulate.c and gradient.c share. */
#ifndef FLASHULP_SIMULATE_PARTS_H
#define FLASHULP_SIMULATE_PARTS_H

#include "simulator/simulate.h"

/* Tiles and copies of dQ of the backward pass. */
struct choices backward_choices(const struct simulation *s, const struct head *h);

/* work(argument) on as many threads, this one among them; returns when all have. */
void share_work(void *(*work)(void *), void *argument, int threads, int64_t items);

/* The exact twin's: mpfr while the problem is small. */
const struct arithmetic *twin_arithmetic(const struct problem *p);

/* Explicit trees have a number of terms, owners' tables of columns; a sum of another length (for a
   table: a shorter one) is refused before it begins: "..., HAS TERMSHINT". */
bool order_fits(enum site site, const struct order *o, int terms, const char *has,
                const char *hint, struct message *why);
/* Do the policy's orders fit the forward listing's sums, and the faults the problem? */
bool forward_fits(const struct problem *p, const struct simulation *s, struct message *why);

/* FNV-1a-64 over numbers in a format (exact: fp64), little-endian; begins with DIGEST_START. */
#define DIGEST_START UINT64_C(0xCBF29CE484222325)
uint64_t digest_numbers(uint64_t digest, enum format f, const double *x, int64_t n);

#endif
