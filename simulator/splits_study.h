/* splits_study.h: many launches at once: a workload's every decode step, and the range of batch
   sizes, neighbours, capacities and lengths over which a row keeps its groups. */
#ifndef FLASHULP_SPLITS_STUDY_H
#define FLASHULP_SPLITS_STUDY_H

#include "simulator/splits.h"
#include "simulator/workloads.h"

enum { STUDY_DEVICES = 16 };

/* Steps at which groups are alike; messages with such a step, and with nothing else. */
struct alike_count {
    int64_t steps;
    int messages, whole;
    const struct decode_range *only; /* the message, where there is one only */
};

/* From this length on, in this message and on this device: blocks of a group.  A message that
   keeps its groups has none, another begins with its first length. */
struct grouping_change {
    const struct decode_range *range;
    int device;
    int64_t length, blocks;
};

struct workload_tally {
    int messages;
    int64_t steps, undecided; /* undecided: steps at which some device's plan is */
    struct alike_count pair[STUDY_DEVICES][STUDY_DEVICES]; /* a < b */
    struct alike_count all;
    int64_t changes[STUDY_DEVICES]; /* steps inside a message that cut unlike the step before */
    struct grouping_change *change; /* malloc'ed */
    int change_count;
};

void workload_tally_free(struct workload_tally *tally);

/* Every length of every message, one sequence a launch otherwise as `l`, on devices of so many SMs
   (at most STUDY_DEVICES). */
bool split_workload(enum workload w, enum split_rule rule, const char *version,
                    const struct launch *l, const int *sms, int devices,
                    struct workload_tally *tally, struct message *why);

/* What the row's neighbours and its engine may choose. */
enum split_axis {
    AXIS_BATCH,    /* sequences in the launch, all of the row's length */
    AXIS_LONGEST,  /* tokens of the longest other sequence, of a batch of several */
    AXIS_SHORTEST, /* tokens of the shortest other sequence, likewise */
    AXIS_CAPACITY, /* tokens the cache holds */
    AXIS_LENGTH,   /* the row's own tokens: those both lengths have are compared */
    SPLIT_AXES
};
const char *split_axis_name(enum split_axis axis);

/* One stretch of an axis where every launch is grouped alike. */
struct split_stretch {
    int64_t from, to;
    bool kept; /* as in the launch asked about */
    int groups;
    int64_t cut; /* tokens of a group, or of a tile that goes round robin */
};

/* The stretches of the axis from `first` to `last`, malloc'ed; *count of them. */
bool split_stretches(enum split_rule rule, const char *version, const struct launch *l,
                     enum split_axis axis, int64_t first, int64_t last,
                     struct split_stretch **stretches, int *count, struct message *why);
/* Where the study of an axis ends by itself: batches of 256, eight times the row's length, at most
   2^20 tokens from it. */
void split_axis_span(const struct launch *l, enum split_axis axis, int64_t *first, int64_t *last);

#endif
