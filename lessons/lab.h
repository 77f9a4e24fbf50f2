/* lab.h: what a lab file sees: the state that the grader hands to each of its functions and reads
   back.

   Every function of a lab takes one `struct state *s`, changes the fields its lab names and
   returns.  The grader drives the loop over tiles and looks at the state between them; nothing
   needs to be kept elsewhere.  Entries beyond the sizes given hold NaN and stay as they are. */
#ifndef FLASHULP_LAB_H
#define FLASHULP_LAB_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MAX_ROWS = 16, MAX_KEYS = 32, MAX_DIM = 16, MAX_PARTS = 8, MAX_LIST = 64 };

struct state {
    /* Sizes of this tile: query rows, keys, columns. */
    int rows, keys, dim;
    /* The whole problem: queries, keys, where this tile's first row and first key stand in it. */
    int Nq, Nk, row0, key0;
    /* The loop over key tiles: `step` of `steps`, and which tile that is. */
    int step, steps, tile;
    /* The mask: causal; left and right of a window, -1 unlimited. */
    int causal, left, right;
    /* Answers that are one number; sizes of lists. */
    int answer, parts, count, order;
    float scale;

    float Q[MAX_ROWS][MAX_DIM], K[MAX_KEYS][MAX_DIM], V[MAX_KEYS][MAX_DIM];
    float S[MAX_ROWS][MAX_KEYS];                 /* scores */
    float P[MAX_ROWS][MAX_KEYS];                 /* weights */
    float m[MAX_ROWS], l[MAX_ROWS], L[MAX_ROWS]; /* maximum, sum, logsumexp */
    float O[MAX_ROWS][MAX_DIM];

    /* Backward: the gradient of O, its product with O, the gradients. */
    float dO[MAX_ROWS][MAX_DIM], delta[MAX_ROWS];
    float dQ[MAX_ROWS][MAX_DIM], dK[MAX_KEYS][MAX_DIM], dV[MAX_KEYS][MAX_DIM];

    /* Partial results of one row: by warp, or by group of keys. */
    float part_m[MAX_PARTS], part_l[MAX_PARTS], part_L[MAX_PARTS], part_O[MAX_PARTS][MAX_DIM];

    /* Lists of numbers, in and out. */
    float x[MAX_LIST], y[MAX_LIST];
    int index[MAX_LIST];
    double flops, seconds, ratio;
    int64_t sizes[8];
};

#endif
