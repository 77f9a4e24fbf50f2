/* simulate.h: an algorithm run over every head of a problem.

   An algorithm is a function over one head, written in verbs (algorithms/).  This file gives it
   rows to load, a place to store and the choices that are not arithmetic: tiles, direction, faults. */
#ifndef FLASHULP_SIMULATE_H
#define FLASHULP_SIMULATE_H

#include "simulator/arith.h"
#include "simulator/kernels.h"

enum algorithm {
#define ALGORITHM(id, ...) ALGORITHM_##id,
#include "simulator/algorithms.def"
#undef ALGORITHM
    ALGORITHM_COUNT
};

enum fault {
#define FAULT(id, ...) FAULT_##id,
#include "simulator/algorithms.def"
#undef FAULT
    FAULT_COUNT
};

enum merge {
#define MERGE(id, ...) MERGE_##id,
#include "simulator/decode.def"
#undef MERGE
    MERGE_COUNT
};

/* How decode cuts the key tiles of a row into groups.  Asked for: `splits` groups, or groups of
   `tokens`; neither: one for each tile.  In force (simulation_choices): `splits` groups, some perhaps
   empty, of `tiles` neighbouring tiles, or every splits-th tile. */
struct grouping {
    bool round_robin;
    int splits;
    int64_t tokens;
    int tiles;
};

/* What an algorithm may know besides the tensors. */
struct choices {
    int Br, Bc;            /* query and key tile; 0: the algorithm's default */
    bool descending;       /* key tiles last to first (fa2) */
    unsigned faults;       /* bit 1 << FAULT_x */
    struct grouping grouping; /* decode's, as the next three */
    enum merge merge;
    bool running_max; /* weights relative to a maximum that runs over a group's tiles */
    bool sum_rounded; /* l sums the rounded weights */
    /* Backward: how the key tiles' parts of dQ meet in memory.  Key tile j adds to copy j mod
       dq_copies (0: one copy); the copies are added at the end, ascending.  Drawn: every key tile
       has a copy, and each query tile adds them in an order of its own, drawn from the seed; or in
       dq_given's, of unit n from its n-th key_tiles on. */
    int dq_copies;
    bool dq_drawn;
    uint64_t dq_seed;
    const int *dq_given;   /* or NULL */
    double repeated_max;   /* of autocast: what a repeated maximum is multiplied by; 0: it stays */
    int warps;             /* of splitk and splitq, at most 32; 0: four */
    int widest;            /* the widest of the user's own key tiles when they are in force, else 0 */
    const struct kernel_choice *kernel; /* NULL: a listing */
};

/* One head being attended to: inputs to load, outputs to store. */
struct attention {
    const struct head *head;
    struct choices choices; /* Br, Bc filled in */
    struct tile *O, *L;     /* Nq x D and Nq x 1, of the run: filled by `store` */
    /* Backward, from the O and L that are stored; dO NULL: forward only. */
    const struct tensor *dO;   /* (B, Hq, Nq, D) */
    struct tile *dQ, *dK, *dV; /* Nq x D, Nk x D, Nk x D; dK and dV not yet summed over a group */
    struct tile *dS_sum;       /* Nq x 1: sum dS: 0 without softcap, but for rounding */
    struct tile *dQ_memory;    /* the copies: dq_copies x query tiles x Br rows of D */
};

/* Key tiles of a head: uniform ones of Bc, or the user's ends ("1 2 | 3 0"). */
int key_tiles(const struct attention *x);
/* First key of tile j and how many there are.  Every tile is Bc wide: a shorter one (the last, or
   the user's) has empty places, outside every interval. */
int64_t key_first(const struct attention *x, int j);
int key_count(const struct attention *x, int j);
int query_tiles(const struct attention *x);
/* Of group g < choices.grouping.splits: how many key tiles it has, 0 allowed, and which is its n-th
   (in the order of choices.descending). */
int group_tiles(const struct attention *x, int g);
int group_tile(const struct attention *x, int g, int n);
int group_of(const struct attention *x, int j); /* the group of key tile j */

void load_q(struct run *r, const struct attention *x, struct tile *Q, int i);
void load_k(struct run *r, const struct attention *x, struct tile *K, int j);
void load_v(struct run *r, const struct attention *x, struct tile *V, int j);
/* Rows of query tile i of the outputs: a copy, no rounding. */
void store(struct run *r, struct attention *x, int i, const struct tile *O, const struct tile *L);
/* Backward: rows of dO; of the stored O and L, zeros past the end; dK and dV of key tile j stored. */
void load_do(struct run *r, const struct attention *x, struct tile *dO, int i);
void recall(struct run *r, const struct attention *x, int i, struct tile *O, struct tile *L);
void store_query_gradient(struct run *r, struct attention *x, int i, const struct tile *dQ,
                          const struct tile *dS_sum);
void store_key_gradients(struct run *r, struct attention *x, int j, const struct tile *dK,
                         const struct tile *dV);
/* Which copies of dQ query tile i adds, in which order; order has room for dq_copies.  Returns how
   many: drawn orders leave out key tiles that the query tile does not meet. */
int dq_order(const struct attention *x, int i, int *order);
/* The mask in the coordinates of query tile i and key tile j. */
struct visible visible_tile(const struct attention *x, int i, int j);
/* The mask for query tile i over key tiles from .. to (inclusive): which rows see any key there. */
struct visible visible_tiles(const struct attention *x, int i, int from, int to);
/* Fault no-tail-mask: is tile j the ragged last one, whose empty places are to count? */
bool tail_unmasked(const struct attention *x, int j);

typedef void algorithm_body(struct run *r, struct attention *x);
#define ALGORITHM(id, name, title, function, ...) algorithm_body function;
#include "simulator/algorithms.def"
#undef ALGORITHM

const char *merge_name(enum merge m);
const char *merge_meaning(enum merge m); /* decode_forms.c */

struct algorithm_info {
    const char *name, *title, *meaning, *source;
    algorithm_body *body;
    int Br, Bc; /* defaults; 0: all rows, all keys */
};
const struct algorithm_info *algorithm_info(enum algorithm a);
bool algorithm_from_name(const char *name, enum algorithm *a, struct message *why);
const char *fault_name(enum fault f);
const char *fault_meaning(enum fault f);
bool fault_from_name(const char *name, enum fault *f, struct message *why);

/* Everything that decides the bits of a run, and how it is watched. */
struct simulation {
    enum algorithm algorithm;
    bool is_kernel; /* then the kernel below in place of the algorithm */
    struct kernel_choice kernel;
    struct kernel_choice forward; /* of a backward kernel: what runs before it */
    struct policy policy;
    const struct arithmetic *arith;
    int precision;
    struct choices choices;
    unsigned alterations; /* bit 1 << ALTERATION_x (alter.h) */
    int threads;         /* over (sequence, head); the bits do not depend on it */
    struct trace *trace; /* NULL, or where steps go (then one thread) */
    bool twin;           /* an exact run walks beside: drift, exact values (needs trace) */
    int64_t unit_first, unit_count; /* which units; count 0: all.  A grouped kernel takes the groups
                                       of query heads they are in, whole. */
};
/* Defaults: fa2, fp32, float arithmetic, 256 bits, the algorithm's tiles, all faults of the printed
   algorithms on, one thread. */
struct simulation simulation_default(void);
/* What runs: "fa2", "fa2-split@B200". */
struct kernel_name simulation_name(const struct simulation *s);
/* The tiles of a head under it: Br, Bc and widest filled in. */
struct choices simulation_choices(const struct simulation *s, const struct head *h);
/* The faults an algorithm has when none is named: fa2-printed all three, others none. */
unsigned algorithm_faults(enum algorithm a);
/* Is no-tail-mask among the faults, and the problem's mask causal or a window?  Not simulated: the
   printed kernels know no mask; their empty places and hidden keys would not be one interval. */
bool faults_meet_mask(const struct problem *p, unsigned faults);

/* Outputs of the chosen units in the units' order: O has Nq * D numbers each, lse Nq.  Doubles hold
   every format exactly; the mpfr arithmetic's exact sites are given to the nearest double. */
struct result {
    int64_t units, rows, D; /* rows: sum of Nq over the units */
    double *O, *lse;
    uint64_t digest; /* FNV-1a-64 over O in OUT's format, then LSE in fp32; NaN canonical */
};
bool simulate(const struct problem *p, const struct simulation *s, struct result *result,
              struct message *why);
void result_free(struct result *result);
uint64_t digest_outputs(enum format f, const double *O, int64_t n, const double *lse, int64_t rows);

/* One head, the tiles left in the run for a closer look (run_reset frees them). */
struct attention simulate_head(struct run *r, const struct simulation *s, const struct head *h);

#endif
