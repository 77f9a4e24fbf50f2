/* scene_decode.h: what the files of the decode scene share. */
#ifndef FLASHULP_VISUALIZE_SCENE_DECODE_H
#define FLASHULP_VISUALIZE_SCENE_DECODE_H

#include "visualize/chart.h"
#include "visualize/decode.h"

/* Time: step g is the g-th group of every GPU, all at once; then the merge, then the last rounding.
   */
struct decode_view {
    struct decode_story story;
    struct scenario scenario;
    const char *switches;         /* "backend=fa2": --option of the runs */
    int device_sms[DECODE_LANES]; /* of --device, before --live */
    int most_groups;
    /* Groups that are planned, and not run yet: while a change is computed. */
    struct decode_ahead {
        bool is;
        const char *switches;
        struct decode_lane lane[DECODE_LANES]; /* no records */
    } ahead;
};
/* The lane whose groups the strips show. */
static inline const struct decode_lane *decode_strip(const struct decode_view *v, int n)
{
    return v->ahead.is ? &v->ahead.lane[n] : &v->story.lane[n];
}
enum { WHAT_BEFORE = 1 << 22, WHAT_STORED = 1 << 21, WHAT_EXACT = 1 << 20 };

/* That the switches name, or FA2's. */
const struct backend_info *decode_backend(const char *switches);
/* The scenario of a backend that a row of the rounding map shows: its policy. */
bool decode_policy(const struct decode_view *v, enum backend b, struct policy *p);
unsigned decode_marks(const struct scene *s, int moment);
void decode_words(const struct scene *s, int moment, struct moment_words *w);
void decode_describe(const struct scene *s, double time, char **text);
bool decode_inspect(const struct scene *s, int what, int time, struct inspection *i);
void decode_draw(const struct scene *s, const struct look *look, struct box stage,
                 struct drawing *d);
/* Lane n's first groups put together, in plain doubles. */
double decode_merged(const struct decode_view *v, int n, int groups);
void decode_draw_records(const struct decode_view *v, const struct look *look, struct box b,
                         struct drawing *d);
const char *decode_title(const struct decode_view *v, const char *title);
void draw_number_line(const struct decode_view *v, const struct look *look, struct box b,
                      struct drawing *d);
void draw_rounding_map(const struct decode_view *v, struct box b, struct drawing *d);

#endif
