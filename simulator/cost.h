/* cost.h: what a launch costs: operations and bytes of each cell, and a modelled time.

   A cell's operations are those of the kernel models' listings (a test counts their calls).  The
   time has two ends: at the least, matrix products, other operations, exponentials and shared
   memory of an SM overlap perfectly and device memory runs beside them; at the most, nothing does.
   Rates are devices.def's figures; what no table establishes is an assumption of plan.def. */
#ifndef FLASHULP_COST_H
#define FLASHULP_COST_H

#include "simulator/tiling.h"

enum assumption {
#define ASSUMPTION(id, ...) ASSUMPTION_##id,
#include "simulator/plan.def"
#undef ASSUMPTION
    ASSUMPTION_COUNT
};
struct assumption_info {
    const char *name, *unit;
    double value;
    const char *meaning;
};
const struct assumption_info *assumption_info(enum assumption a);
/* "exp-per-clock=32" into values[]; numbers from 0 to 10^9, whole where they count something. */
bool assume(double values[ASSUMPTION_COUNT], const char *text, struct message *why);

/* Of a cell, of a block's beginning and end, or of all. */
struct work {
    double matmul;  /* FLOPs of matrix products, two a multiplication */
    double other;   /* fp32 operations elsewhere: an element of a verb's call is one */
    double special; /* exponentials, logarithms, reciprocals */
    double shared;  /* bytes written to and read from shared memory */
};
struct work work_cell(const struct grid *g, enum cell c);
struct work work_block(const struct grid *g); /* fa1: of all query tiles of its head */

/* Bytes of device memory, 16-bit elements: once: every tensor once; again: what blocks ask for
   beyond that, and fp32 results that are written and read again. */
struct traffic {
    double once, again;
};
struct traffic grid_traffic(const struct grid *g);
/* Matrix products of the visible pairs alone: 4 D a pair forward, 10 D backward. */
double useful_flops(const struct grid *g);

/* Of one SM, a second; memory of the device.  0: not established. */
struct rates {
    double matmul, other, special, shared, memory;
    double clock;
    bool clock_derived; /* from the fp32 peak and the assumed lanes */
};
struct rates device_rates(const struct device_record *d, const double assume[ASSUMPTION_COUNT]);
/* Seconds of an SM: everything overlaps, or nothing does. */
double least_seconds(const struct work *w, const struct rates *r);
double most_seconds(const struct work *w, const struct rates *r);

struct plan_request {
    enum plan_kernel kernel;
    struct attention_shape shape;
    struct tiling tile; /* Br 0: the shipped one */
    int64_t num_splits; /* decode: the caller's count, 0: FA2's rule */
    double assume[ASSUMPTION_COUNT];
};
struct plan_request plan_request_default(void);

struct cost {
    struct grid grid;
    struct occupancy occupancy;
    bool shipped; /* the tile is the shipped one */
    int per_sm; /* blocks resident on an SM; 0: the tile does not launch, and nothing below holds */
    struct cells cells;
    struct work plain, masked, block, total;
    struct traffic traffic;
    double useful; /* FLOPs */
    struct rates rates;
    bool timed; /* the device's matmul rate, fp32 rate and bandwidth are established */
    struct schedule least, most; /* spans in seconds; without a time, in cells */
    double seconds_least, seconds_most;
    double share_least,
        share_most; /* of the matmul peak, useful FLOPs: at the most and least time */
    int launches;
};
/* Refused: a head size or architecture without a shipped tile, what the split rule refuses, a
   launch of more than 2^24 blocks. */
bool plan_cost(const struct plan_request *q, const struct device_record *d, struct cost *c,
               struct message *why);

/* FLOPs of training, a token: 6 parameters + factor x layers x hidden x N; factor 12 counts four
   products backward, and causal attention whole. */
double training_flops(double parameters, double layers, double hidden, double N, double factor);

#endif
