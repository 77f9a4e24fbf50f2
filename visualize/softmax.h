/* softmax.h: the story of one row under one or two algorithms, in lockstep, read from traces: after
   each moment, what m, l, O~ and the others hold, and what the exact twin holds.

   A lane is a run.  Its beats are the steps that change a bit of the row, in order; two lanes'
   beats are paired by name, tile by tile, and a pair is a moment. */
#ifndef FLASHULP_VISUALIZE_SOFTMAX_H
#define FLASHULP_VISUALIZE_SOFTMAX_H

#include "visualize/scene.h"

enum slot {
    SLOT_M,
    SLOT_L,
    SLOT_O_ACC,
    SLOT_O,
    SLOT_LSE, /* what the row carries along */
    SLOT_DECAY,
    SLOT_M_TILE,
    SLOT_L_TILE,
    SLOT_Y,
    SLOT_L_OLD, /* of the tile at hand */
    SLOT_COUNT
};
const char *slot_symbol(enum slot s);

/* A number that is held after some beat; event: that wrote it. */
struct held {
    bool is;
    double value, exact[2];
    size_t event;
};

struct beat {
    enum step step;
    int tile;                /* counts the key tiles in the order they are met */
    size_t first, end;       /* events */
    unsigned wrote;          /* 1 << slot, of what changed */
    enum tensor_name tensor; /* that it is named after */
};

struct lane_state {
    struct held slot[SLOT_COUNT];
    int tile;
};

/* A key tile of the row; key: how many of the row's keys come before it. */
struct lane_tile {
    uint32_t j;
    int lo, hi, key;       /* columns seen */
    size_t scores, values; /* events + 1; 0: none */
    int scores_beat;       /* beats before the scores are known */
    int weights;           /* events that wrote P */
    size_t weight[4];
    int weight_beat[4];
};

struct lane {
    char name[64];
    struct trace *trace;
    int beats, tiles, room, tile_room, state_room;
    struct beat *beat;
    struct lane_state *state; /* [beats + 1] */
    struct lane_tile *tile;
    int divisions;
};

struct row_place {
    uint32_t batch, head;
    int64_t row;
    int dim;
};

/* What the lanes have done before moment n (its own beat: the next one, -1: it waits). */
struct softmax_moment {
    int before[2], beat[2];
};

struct softmax_story {
    int lanes;
    struct lane lane[2];
    struct row_place place;
    int moments;
    struct softmax_moment *moment; /* [moments + 1], the last one behind all */
    int parted, rounded;           /* first moments of their kind, or -1 */
    bool given;                    /* the scores are the input itself */
};

/* Takes the trace over, also on failure.  False: it has not this row with its values. */
bool lane_tell(struct lane *l, struct trace *t, const struct row_place *place, bool given,
               struct message *why);
void lane_free(struct lane *l);
/* Pairs the lanes' beats. */
void softmax_pair(struct softmax_story *s);
/* A score or weight of a tile's column: weights as they stand after so many beats. */
bool lane_score(const struct lane *l, const struct softmax_story *s, int tile, int col, double *x);
/* v of the tile's column, at the place's output column. */
bool lane_value(const struct lane *l, const struct softmax_story *s, int tile, int col, double *v);
bool lane_weight(const struct lane *l, const struct softmax_story *s, int tile, int col, int beats,
                 struct held *h);

#endif
