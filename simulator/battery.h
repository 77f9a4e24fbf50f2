/* battery.h: edge cases of attention for anybody's program, and the mistakes known from the wild.

   A case is a row of battery.def made into a problem; a mistake is attention computed wrongly in
   one stated way.  What a wrong program gave is compared with what each mistake gives on the very
   same inputs: no wrong answer is stored. */
#ifndef FLASHULP_BATTERY_H
#define FLASHULP_BATTERY_H

#include "reference/problem.h"

enum battery_fill { BATTERY_LISTED, BATTERY_LAST, BATTERY_FLAT, BATTERY_RANDOM, BATTERY_SHAPED };

struct battery_case {
    const char *name;
    int64_t B, Hq, Hkv, Nq, Nk, D; /* D 0: the caller's */
    int64_t spare;                 /* keys of the buffer behind the Nk that count */
    enum battery_fill fill;
    const char *scores, *values;
    bool causal;
    int64_t left, right;
    double softcap;
    const char *meaning;
};
/* The n-th case, NULL behind the last. */
const struct battery_case *battery_case(int n);

/* A case with its numbers: in the files' format, and as doubles (k, v with the spare keys). */
struct battery_input {
    struct problem problem;
    struct tensor q, k, v; /* as the program gets them: rank 4, spare keys included */
    int64_t buffer;        /* keys in k and v */
    double *q_values, *k_values, *v_values;
    struct tensor dO; /* of the backward pass: drawn, in the files' format */
    double *dO_values;
};
/* The same seed gives the same numbers. */
bool battery_input(const struct battery_case *c, enum format dtype, int64_t dim, uint64_t seed,
                   struct battery_input *in, struct message *why);
void battery_input_free(struct battery_input *in);

enum { EMPTY_MEAN = 1, EMPTY_NAN };
enum { SCALE_NONE = 1, SCALE_TWICE, SCALE_D, SCALE_PADDED };
enum { BASE_2 = 1, BASE_E };
enum { HEADS_MODULO = 1, HEADS_ZERO };
enum { UNWRITTEN_HEADS = 1, UNWRITTEN_BATCHES, UNWRITTEN_ROWS };
enum { TAIL_ZERO = 1, TAIL_DROPPED };
enum { LSE_BASE_2 = 1, LSE_NO_M, LSE_NO_LOG, LSE_PLUS_INF };

/* What is done wrongly; all zero: nothing, and the result is attention in double. */
struct mistake {
    bool poison, zero, top_left, no_causal, buffer_diagonal, no_window, no_softcap, late_softcap,
        read_spare, leak, drop_nan, no_max, starts, inf_minus_inf, residual, batch_zero, layout,
        keep_l, keep_O, tile_max, last_tile, linear;
    int right, left; /* added to the sides of what is visible */
    int empty, scale, base, heads, unwritten, tail, lse;
    int columns;        /* of Q and K that are used; 1: half of them; 0: all */
    int fewer;          /* keys left out at the end */
    int divide;         /* -1: not divided by l; 1: twice */
    double add;         /* to the score of a masked key, which stays visible; 0: masks hide */
    double start;       /* of the running maximum, if it `starts` */
    enum format narrow; /* Q and K are rounded to it; FORMAT_exact, 0: not */
};
struct mistake_info {
    const char *name;
    bool tiles;
    const char *sentence; /* with %s for the tile's keys if `tiles` */
    struct mistake mistake;
};
/* The sentence, about tiles of so many keys. */
struct mistake_text {
    char text[256];
};
struct mistake_text mistake_text(const struct mistake_info *info, const char *keys);
/* The n-th mistake, NULL behind the last. */
const struct mistake_info *mistake_info(int n);

/* Attention so computed, in double, over tiles of `tile` keys: O[B,Hq,Nq,D] and lse[B,Hq,Nq] in C
   order, as they would stand in the program's files. */
void mistaken(const struct battery_input *in, const struct mistake *m, int tile, double *O,
              double *lse);

/* What an output file holds before the program runs: a NaN with a payload of its own, so that one
   that was computed is told from one that was never written.  As a double: BATTERY_POISON. */
#define BATTERY_POISON 1.25e300
void battery_poison(struct tensor *t, int64_t element); /* in C order */

/* What a program gave, against the certified result: inside four times the a-priori bound of fp32
   sums with weights rounded to the inputs' format, or equal where that is not finite. */
struct battery_verdict {
    bool passed;
    int64_t outputs, wrong;                /* numbers of O, and those of them that are wrong */
    char first[192];                       /* "O[0,0,1,2] = 3, want 2.5", or empty */
    const struct mistake_info *mistake;    /* that gives what the program gave, or NULL */
    const struct mistake_info *other;      /* another one that does, too, or NULL */
    const char *gradient, *other_gradient; /* the same of gradients, by name */
    char sentence[320];                    /* what it looks like, or where it is wrong */
};
/* The number there, or BATTERY_POISON. */
double battery_given(const struct tensor *t, int64_t b, int64_t h, int64_t r, int64_t d);
/* Of the same kind (NaN, an infinity, finite), and if finite not farther than that. */
bool battery_within(double got, double want, double allowed);
/* Is what is wrong in `got` as in `other`?  Where it is wrong, eight times nearer than the truth. */
bool battery_like(const double *got, const double *want, const double *allowed, const double *other,
                  int64_t count, double relative);

/* O and lse (rank 3; NULL: not given) have the right shape. */
void battery_judge(const struct battery_input *in, const struct tensor *O, const struct tensor *lse,
                   struct battery_verdict *v);

#endif
