/* timeline.c: see timeline.h.  A lane is cut into slices two units wide; each shows what took most
   of it, and neighbours that show the same are one rectangle. */
#include "visualize/timeline.h"

#include <math.h>

enum state { IDLE, COMPUTES, SHARED, MEMORY, QUEUES, STANDS, STATES };
enum { NAME_WIDTH = 30, SLICE = 2, MOST_SLICES = 2048 };

static enum state state_at(enum warp_unit unit)
{
    return unit == UNIT_BARRIER  ? STANDS
           : unit == UNIT_SHARED ? SHARED
           : unit == UNIT_MEMORY ? MEMORY
                                 : COMPUTES;
}

static void draw_state(struct drawing *d, enum state state, int run, struct box b)
{
    enum ink ink = run_style(run).ink;
    switch (state) {
    case COMPUTES:
        draw_rect(d, b, ink, INK_NONE);
        break;
    case SHARED:
        draw_hatched(d, b, INK_CELL, ink, HATCH_RISING);
        break;
    case MEMORY:
        draw_hatched(d, b, INK_CELL, ink, HATCH_DOTS);
        break;
    case QUEUES:
        draw_rect(d, b, INK_RULE, INK_NONE);
        break;
    case STANDS:
        draw_hatched(d, b, INK_PAPER, INK_ALARM, HATCH_CROSS);
        break;
    default:
        break;
    }
}

struct slices {
    double share[MOST_SLICES][STATES], clocks; /* clocks: of one */
    int count;
};

static void add_time(struct slices *s, enum state state, double from, double to)
{
    for (int n = (int)(from / s->clocks); n < s->count && n * s->clocks < to; n++)
        s->share[n][state] += fmin(to, (n + 1) * s->clocks) - fmax(from, n * s->clocks);
}

/* A wait for a unit comes before the work there; a barrier is all wait. */
static void add_lane(const struct timeline *t, int warp, struct slices *s)
{
    for (size_t n = 0; n < t->times->count; n++) {
        const struct warp_span *span = &t->times->span[n];
        if (span->warp != warp || span->from >= t->now)
            continue;
        enum state state = state_at(t->task[span->task].unit);
        double works = span->to - span->worked;
        add_time(s, state == STANDS ? STANDS : QUEUES, span->from, fmin(works, t->now));
        add_time(s, state, works, fmin(span->to, t->now));
    }
}

static enum state most_of(const double *share)
{
    enum state most = IDLE;
    for (int k = 0; k < STATES; k++)
        if (share[k] > share[most])
            most = (enum state)k;
    return most;
}

static void draw_lane(const struct timeline *t, int warp, struct box lane, struct drawing *d)
{
    static _Thread_local struct slices s;
    s = (struct slices){.count = (int)(lane.w / SLICE)};
    s.count = s.count > MOST_SLICES ? MOST_SLICES : s.count < 1 ? 1 : s.count;
    s.clocks = t->end / s.count;
    add_lane(t, warp, &s);
    double width = lane.w / s.count;
    for (int n = 0, first = 0; n < s.count; n = first) {
        enum state state = most_of(s.share[n]);
        for (first = n + 1; first < s.count && most_of(s.share[first]) == state;)
            first++;
        draw_state(d, state, t->run,
                   (struct box){lane.x + n * width, lane.y, (first - n) * width, lane.h});
    }
}

static struct box lanes_box(struct box b)
{
    return (struct box){b.x + NAME_WIDTH, b.y, b.w - NAME_WIDTH, b.h};
}

double timeline_x(const struct timeline *t, struct box b, double clocks)
{
    struct box lanes = lanes_box(b);
    return lanes.x + lanes.w * (t->end > 0 ? clocks / t->end : 0);
}

void draw_timeline(const struct timeline *t, struct box b, struct drawing *d)
{
    struct box lanes = lanes_box(b);
    double row = b.h / t->warps;
    int named = (int)ceil(12 / row); /* every so many-th: there is room for no more */
    for (int w = 0; w < t->warps; w++) {
        struct box lane = {lanes.x, b.y + row * w + 1, lanes.w, row - 2};
        if (w % named == 0)
            draw_text(d, FACE_BOLD, 11, ALIGN_LEFT, run_style(t->run).ink, b.x,
                      lane.y + lane.h / 2 + 4, "w%d", w);
        draw_rect(d, lane, INK_PANEL, INK_NONE);
        if (t->end > 0)
            draw_lane(t, w, lane, d);
    }
}

double draw_timeline_legend(int run, double x, double y, bool narrow, struct drawing *d)
{
    static const char *const names[STATES] = {
        "", "computes", "shared memory", "device memory", "waits for a unit", "waits at a barrier"};
    double at = x;
    for (int k = COMPUTES; k < STATES; k++) {
        if (narrow && k == QUEUES) {
            at = x;
            y += 18;
        }
        draw_state(d, (enum state)k, run, (struct box){at, y - 9, 16, 11});
        draw_text(d, FACE_SANS, 11, ALIGN_LEFT, INK_TEXT, at + 22, y, "%s", names[k]);
        at += 22 + font_width(FACE_SANS, 11, names[k]) + 14;
    }
    return y;
}
