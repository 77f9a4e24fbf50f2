/* warp_time.c: see warp_time.h: always the warp that is ready first goes on, the lower of two. */
#include "simulator/warp_time.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct timed_warp {
    size_t *task; /* its tasks' numbers */
    size_t count, next;
    int piece;          /* of the next task */
    double ready, from; /* from: when the next task was come to */
    bool waits;         /* at a barrier */
};

struct machine {
    const struct warp_task *task;
    struct timed_warp warp[TIMED_WARPS];
    size_t *tasks; /* of all warps */
    double free[UNITS][QUARTERS];
    struct warp_times *times;
};

/* How many spans the tasks make. */
static size_t count_spans(const struct warp_task *task, size_t tasks)
{
    size_t sum = 0;
    for (size_t n = 0; n < tasks; n++)
        sum += (size_t)__builtin_popcount(task[n].warps);
    return sum;
}

static void deal(struct machine *m, size_t tasks)
{
    size_t *to = m->tasks;
    for (int w = 0; w < TIMED_WARPS; w++) {
        m->warp[w].task = to;
        for (size_t n = 0; n < tasks; n++)
            if (m->task[n].warps >> w & 1)
                *to++ = n;
        m->warp[w].count = (size_t)(to - m->warp[w].task);
    }
}

/* The warp whose turn it is, or -1: all are through or wait. */
static int next_warp(const struct machine *m)
{
    int first = -1;
    for (int w = 0; w < TIMED_WARPS; w++) {
        const struct timed_warp *t = &m->warp[w];
        if (!t->waits && t->next < t->count && (first < 0 || t->ready < m->warp[first].ready))
            first = w;
    }
    return first;
}

static void finish(struct machine *m, int w, double worked)
{
    struct timed_warp *t = &m->warp[w];
    m->times->span[m->times->count++] =
        (struct warp_span){t->task[t->next], w, t->from, t->ready, worked};
    m->times->end = fmax(m->times->end, t->ready);
    t->from = t->ready;
    t->next++;
    t->piece = 0;
    t->waits = false;
}

/* Lets those who wait at that barrier go on, if all have come. */
static void release(struct machine *m, size_t barrier)
{
    double last = 0;
    uint32_t here = 0;
    for (int w = 0; w < TIMED_WARPS; w++)
        if (m->warp[w].waits && m->warp[w].task[m->warp[w].next] == barrier) {
            here |= UINT32_C(1) << w;
            last = fmax(last, m->warp[w].ready);
        }
    if (here != m->task[barrier].warps)
        return;
    for (int w = 0; w < TIMED_WARPS; w++)
        if (here >> w & 1) {
            m->warp[w].ready = last;
            finish(m, w, 0);
        }
}

/* One piece of the warp's next task. */
static void work(struct machine *m, int w)
{
    struct timed_warp *t = &m->warp[w];
    const struct warp_task *task = &m->task[t->task[t->next]];
    bool one = task->unit == UNIT_SHARED || task->unit == UNIT_MEMORY;
    double *free_at = &m->free[task->unit][one ? 0 : w % QUARTERS];
    *free_at = fmax(*free_at, t->ready) + task->clocks / task->pieces;
    t->ready = *free_at;
    if (++t->piece >= task->pieces)
        finish(m, w, task->clocks);
}

/* Barriers are in one order for all, so the first that anybody waits at is come to by all. */
static void run(struct machine *m)
{
    for (int w = next_warp(m); w >= 0; w = next_warp(m)) {
        struct timed_warp *t = &m->warp[w];
        size_t n = t->task[t->next];
        if (m->task[n].unit == UNIT_BARRIER) {
            t->waits = true;
            release(m, n);
        } else {
            work(m, w);
        }
    }
}

bool warp_times_new(struct warp_times *t, const struct warp_task *task, size_t tasks)
{
    size_t spans = count_spans(task, tasks);
    struct machine *m = calloc(1, sizeof *m);
    *t = (struct warp_times){.span = calloc(spans + 1, sizeof *t->span)};
    size_t *dealt = calloc(spans + 1, sizeof *dealt);
    bool ok = m != NULL && t->span != NULL && dealt != NULL;
    if (ok) {
        *m = (struct machine){.task = task, .tasks = dealt, .times = t};
        deal(m, tasks);
        run(m);
        assert(t->count == spans);
    } else {
        warp_times_free(t);
    }
    free(dealt);
    free(m);
    return ok;
}

void warp_times_free(struct warp_times *t)
{
    free(t->span);
    *t = (struct warp_times){NULL, 0, 0};
}

struct warp_sum warp_sum(const struct warp_times *t, const struct warp_task *task, int warp)
{
    struct warp_sum sum = {{0}, {0}};
    for (size_t n = 0; n < t->count; n++) {
        const struct warp_span *s = &t->span[n];
        if (s->warp != warp)
            continue;
        sum.work[task[s->task].unit] += s->worked;
        sum.wait[task[s->task].unit] += s->to - s->from - s->worked;
    }
    return sum;
}
