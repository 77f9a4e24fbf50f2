/* order.h: how the terms of a sum are put together: the parenthesis tree.

   seq        a chain that starts at the accumulator: ((acc + t0) + t1) + ...
   pairwise   the terms by halves (the left half has ceil(n/2)), then one addition to that
   tree       an explicit tree over the terms, then one addition to the accumulator
   lanes      as the lanes of a warp do it: each adds up its own columns, then a butterfly
   mma        as a tensor core does it: a chain of fused, truncated dot products (mma.h)

   A tree is written as nested chains of term numbers: "((0 1) (2 3))" is (t0+t1)+(t2+t3),
   "(3 1 2 0)" the chain ((t3+t1)+t2)+t0.

   lanes:OWNERS:[fused:]OFFSETS.  OWNERS says whose column c is: quad = (c/2) mod 4, modN = c mod N,
   or a table "(0 0 1 1)", repeated.  For each offset o in turn every lane becomes
   a_i + a_(i xor o); the sum is lane 0's.  A destination with one column for each lane keeps them
   apart: lane t goes on from column t, and no butterfly follows until `fold`.  `fused` matters only
   where the sum is rescaled: a lane's first own column p enters as fma(l, decay, p); otherwise
   l decay is rounded first.  A destination with one column takes the butterfly's result in one
   addition.  Valid C++17. */
#ifndef FLASHULP_ORDER_H
#define FLASHULP_ORDER_H

#include <stdbool.h>
#include "reference/message.h"

enum order_kind {
#define ORDER(id, name, meaning) ORDER_##id,
#include "simulator/orders.def"
#undef ORDER
    ORDER_COUNT
};

/* A tree as a stack program: an operand n >= 0 pushes term n, ORDER_ADD replaces the two topmost
   entries by their sum (the lower one is the left operand). */
enum { ORDER_ADD = -1 };

struct order_tree {
    int terms; /* every number 0 .. terms-1 appears exactly once */
    int length, depth;
    int *program;
    char *text; /* as the user wrote it */
};

enum { ORDER_MOST_LANES = 1024 };

/* The lanes of a warp, or of several. */
struct order_lanes {
    int lanes;          /* a power of two, from 2 to ORDER_MOST_LANES */
    int period, *owner; /* column c is lane owner[c % period]'s */
    bool table;         /* the owners were written out */
    bool fused;
    int offsets, *offset;
    char *text;
};

struct mma;

/* What a kind needs lives as long as the program and is shared; NULL for other kinds. */
struct order {
    enum order_kind kind;
    const struct order_tree *tree;
    const struct order_lanes *lanes;
    const struct mma *mma;
};

/* "seq", "pairwise", "tree:FILE", "tree:((0 1) 2)", "lanes:quad:2,1", "mma@sm90". */
bool order_parse(const char *text, struct order *o, struct message *why);
/* Back to text, as order_parse reads it. */
const char *order_text(const struct order *o);
/* What follows "lanes" in an order, as order_parse meets it; NULL when refused. */
const struct order_lanes *lanes_parse(const char *text, struct message *why);
/* How many columns keep an order's lanes apart: 1 where it has none. */
int order_columns(const struct order *o);
/* The stack program of a pairwise sum of n terms (n >= 1), cached. */
const struct order_tree *order_pairwise(int n);

#endif
