/* order.h: how the terms of a sum are put together: the parenthesis tree.

   seq        a chain that starts at the accumulator: ((acc + t0) + t1) + ...
   pairwise   the terms by halves (the left half has ceil(n/2)), then one addition to the accumulator
   tree       an explicit tree over the terms, then one addition to the accumulator
   lanes, mma as GPU threads and tensor cores do it: with the decode models

   A tree is written as nested chains of term numbers: "((0 1) (2 3))" is (t0+t1)+(t2+t3), "(3 1 2 0)"
   the chain ((t3+t1)+t2)+t0.  Valid C++17. */
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

struct order {
    enum order_kind kind;
    const struct order_tree *tree; /* ORDER_TREE; shared, lives as long as the program */
};

/* "seq", "pairwise", "tree:FILE" or "tree:((0 1) 2)".  Trees are kept until the program ends. */
bool order_parse(const char *text, struct order *o, struct message *why);
/* Back to text, as order_parse reads it. */
const char *order_text(const struct order *o);
/* The stack program of a pairwise sum of n terms (n >= 1), cached. */
const struct order_tree *order_pairwise(int n);

#endif
