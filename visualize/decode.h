/* decode.h: the story of one row decoded in groups, on several GPUs at once: how each cuts the
   tokens, what every group leaves, what the groups come to, and the exact result.

   A lane is a GPU: its SMs and the backend's rule give the groups; the listing decode runs with
   them.  One column of the output is told (row_place.dim). */
#ifndef FLASHULP_VISUALIZE_DECODE_H
#define FLASHULP_VISUALIZE_DECODE_H

#include "simulator/decode_forms.h"
#include "simulator/splits.h"
#include "visualize/softmax.h"

enum { DECODE_LANES = 3, DECODE_MOST_TOKENS = 1 << 18, DECODE_MOST_SMS = 4096 };

struct decode_group {
    double m, l, O, L; /* as stored; NaN: this form stores none */
    double weight;     /* in the merge, relative to the others; NaN where it is not noted */
};

struct decode_lane {
    char name[48];
    int sms;
    struct split_plan plan;
    bool planned; /* by the device's rule; else groups of so many tokens, on any device: */
    int64_t tokens;
    int groups;
    struct decode_group *group;
    double before, stored; /* the last rounding */
};

struct decode_story {
    struct scenario_input input;
    struct head head;
    struct row_place place;
    int lanes;
    struct decode_lane lane[DECODE_LANES];
    struct policy policy;
    enum format out;
    double exact[2], correct; /* the certified result, and its rounding */
    char digits[48];
};

/* How a GPU of l->sms SMs cuts the tokens: plan, planned, groups; no run. */
bool decode_plan(const struct decode_story *s, const struct scenario *scenario,
                 struct decode_lane *l, struct message *why);
/* Fills s->lane[n] for a GPU of so many SMs. */
bool decode_run(struct decode_story *s, const struct scenario *scenario, int n, int sms,
                struct message *why);
void decode_free(struct decode_story *s);
/* Which group of the lane a token belongs to. */
int decode_owner(const struct decode_story *s, const struct decode_lane *l, int64_t token);

#endif
