/* lanes.c: see lanes.h: from a trace's chunks to steps, lines and times. */
#include "visualize/lanes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/exchange_time.h"
#include "visualize/listing.h"

enum { PRODUCT_FLOPS = 4096, NO_TAG = -1 }; /* m16n8k16 */

void lanes_free(struct lanes_view *v)
{
    lane_requests_free(&v->requests);
    warp_times_free(&v->times);
    free(v->barrier);
    free(v->task);
    free(v->step);
    free(v->line);
    free(v->found_at);
    trace_free(v->trace);
}

/* Waits of one release follow one another, warps ascending. */
static bool find_barriers(struct lanes_view *v)
{
    v->barrier = calloc(v->sync.waits + 1, sizeof *v->barrier);
    for (size_t n = 0; v->barrier != NULL && n < v->sync.waits; n++) {
        struct sync_wait w = trace_wait(&v->sync, n);
        if (w.block != v->block)
            continue;
        struct lanes_barrier *last = v->barriers > 0 ? &v->barrier[v->barriers - 1] : NULL;
        bool joins = last != NULL && last->first.released == w.released &&
                     last->first.barrier == w.barrier && last->warps >> w.warp == 0;
        if (!joins) {
            last = &v->barrier[v->barriers++];
            last->first = w;
        }
        last->warps |= UINT32_C(1) << w.warp;
    }
    return v->barrier != NULL;
}

struct tasks {
    struct lanes_view *v;
    double clocks[UNITS];
    uint32_t products[TIMED_WARPS]; /* that have become tasks */
};

static void add_task(struct tasks *t, enum warp_unit unit, uint32_t warps, double clocks, int tag)
{
    t->v->task[t->v->tasks++] =
        (struct warp_task){.unit = unit, .warps = warps, .clocks = clocks, .pieces = 1, .tag = tag};
}

static void add_products(struct tasks *t, uint32_t warp, uint32_t until)
{
    if (until > t->products[warp]) {
        double flops = (double)PRODUCT_FLOPS * (until - t->products[warp]);
        add_task(t, UNIT_TENSOR, UINT32_C(1) << warp, flops * t->clocks[UNIT_TENSOR], NO_TAG);
        t->products[warp] = until;
    }
}

static uint32_t warp_of(const struct lane_request *r)
{
    return r->first.thread / REQUEST_LANES % TIMED_WARPS;
}

static void add_request(struct tasks *t, size_t n)
{
    const struct lane_request *r = &t->v->requests.request[n];
    uint32_t warp = warp_of(r);
    bool global = r->first.space == LANE_GLOBAL;
    add_products(t, warp, r->first.products);
    add_task(t, global ? UNIT_MEMORY : UNIT_SHARED, UINT32_C(1) << warp,
             global ? r->passes * SECTOR_BYTES * t->clocks[UNIT_MEMORY] : r->passes, (int)n);
}

/* The program: requests by their first access, each barrier before what came after its release. */
static bool make_tasks(struct lanes_view *v, struct message *why)
{
    struct tasks t = {.v = v};
    size_t most = 2 * v->requests.count + (TIMED_WARPS + 1) * v->barriers + 1, n = 0;
    if (!unit_clocks(t.clocks, &v->device, why))
        return false;
    v->task = calloc(most, sizeof *v->task);
    if (v->task == NULL)
        return refuse(why, "no memory for %zu requests", v->requests.count);
    for (size_t b = 0; b <= v->barriers; b++) {
        while (n < v->requests.count && (b == v->barriers || v->requests.request[n].first.time <
                                                                 v->barrier[b].first.released))
            add_request(&t, n++);
        if (b < v->barriers)
            add_task(&t, UNIT_BARRIER, v->barrier[b].warps, 0, (int)b);
    }
    return warp_times_new(&v->times, v->task, v->tasks) ||
           refuse(why, "no memory for %zu requests", v->requests.count);
}

static int by_time(const void *a, const void *b)
{
    const struct lanes_step *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->barrier != y->barrier)
        return x->barrier ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool make_steps(struct lanes_view *v)
{
    v->step = calloc(v->requests.count + v->barriers + 1, sizeof *v->step);
    uint32_t *left = calloc(v->barriers + 1, sizeof *left);
    for (size_t b = 0; left != NULL && b < v->barriers; b++)
        left[b] = v->barrier[b].warps;
    for (size_t n = 0; v->step != NULL && left != NULL && n < v->times.count; n++) {
        const struct warp_span *s = &v->times.span[n];
        const struct warp_task *task = &v->task[s->task];
        struct lanes_step step = {false,
                                  (size_t)task->tag,
                                  s->to - s->worked,
                                  s->to,
                                  fmax(0, s->to - s->from - s->worked),
                                  -1};
        if (task->unit == UNIT_BARRIER) {
            struct lanes_barrier *b = &v->barrier[task->tag];
            b->waited[s->warp] = s->to - s->from;
            left[task->tag] &= ~(UINT32_C(1) << s->warp);
            step.barrier = true;
            for (int w = 0; w < TIMED_WARPS; w++)
                step.waited += b->waited[w];
            step.waited -= b->waited[s->warp]; /* it is in there already */
        }
        if (task->tag != NO_TAG && (task->unit != UNIT_BARRIER || left[task->tag] == 0))
            v->step[v->steps++] = step;
    }
    bool ok = v->step != NULL && left != NULL;
    free(left);
    if (ok)
        qsort(v->step, (size_t)v->steps, sizeof *v->step, by_time);
    return ok;
}

/* The request that has the access of that time. */
static int request_at(const struct lanes_view *v, uint32_t thread, uint64_t time)
{
    uint32_t lane = thread % REQUEST_LANES, warp = thread / REQUEST_LANES;
    for (size_t n = 0; n < v->requests.count; n++) {
        const struct lane_request *r = &v->requests.request[n];
        if (warp_of(r) == warp && (r->lanes >> lane & 1) != 0 &&
            trace_lane(&v->lanes, r->access[lane]).time == time)
            return (int)n;
    }
    return -1;
}

static bool place_findings(struct lanes_view *v)
{
    v->found_at = calloc(v->sync.findings + 1, sizeof *v->found_at);
    for (size_t f = v->sync.findings; v->found_at != NULL && f-- > 0;) {
        struct sync_finding found = trace_finding(&v->sync, f);
        int request = found.block == v->block ? request_at(v, found.thread, found.time) : -1;
        v->found_at[f] = -1;
        for (int n = 0; n < v->steps && request >= 0; n++)
            if (!v->step[n].barrier && v->step[n].index == (size_t)request) {
                v->step[n].finding = (int)f;
                v->found_at[f] = n;
            }
    }
    return v->found_at != NULL;
}

bool lanes_told(const struct lanes_view *v, int finding)
{
    struct sync_finding a = trace_finding(&v->sync, (size_t)finding);
    for (int f = 0; f < finding; f++) {
        struct sync_finding b = trace_finding(&v->sync, (size_t)f);
        bool same = a.file == b.file && a.line == b.line && a.other_file == b.other_file &&
                    a.other_line == b.other_line;
        bool turned = a.file == b.other_file && a.line == b.other_line && a.other_file == b.file &&
                      a.other_line == b.line;
        if (a.meaning == b.meaning && (same || turned))
            return true;
    }
    return false;
}

static struct lanes_line *line_of(struct lanes_view *v, bool barrier, uint32_t file, uint32_t line)
{
    for (int n = 0; n < v->lines; n++)
        if (v->line[n].barrier == barrier && v->line[n].file == file && v->line[n].line == line)
            return &v->line[n];
    struct lanes_line *all = realloc(v->line, ((size_t)v->lines + 1) * sizeof *all);
    if (all == NULL)
        return NULL;
    v->line = all;
    v->line[v->lines] = (struct lanes_line){.barrier = barrier, .file = file, .line = line};
    return &v->line[v->lines++];
}

static int by_line(const void *a, const void *b)
{
    const struct lanes_line *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

static bool sum_lines(struct lanes_view *v)
{
    for (int n = 0; n < v->steps; n++) {
        const struct lanes_step *s = &v->step[n];
        const struct lane_request *r = s->barrier ? NULL : &v->requests.request[s->index];
        const struct lanes_barrier *b = s->barrier ? &v->barrier[s->index] : NULL;
        struct lanes_line *l = s->barrier ? line_of(v, true, b->first.file, b->first.line)
                                          : line_of(v, false, r->first.file, r->first.line);
        if (l == NULL)
            return false;
        bool global = r != NULL && r->first.space == LANE_GLOBAL;
        l->times += s->barrier ? __builtin_popcount(b->warps) : 1;
        l->waited += s->waited;
        l->sectors += global ? r->passes : 0;
        l->fewest += global ? r->least : 0;
        l->passes += r != NULL && !global ? r->passes : 0;
        l->least += r != NULL && !global ? r->least : 0;
    }
    if (v->lines > 0)
        qsort(v->line, (size_t)v->lines, sizeof *v->line, by_line);
    return true;
}

static bool read_chunks(struct lanes_view *v, struct message *why)
{
    if (!trace_lanes(v->trace, &v->lanes, why) || !trace_sync(v->trace, &v->sync, why))
        return false;
    if (v->lanes.count == 0)
        return refuse(why, "no lane of an emulated kernel is in it; flashulp-gpu trace -o makes "
                           "such a trace");
    for (size_t n = 0; n < v->lanes.count; n++) {
        struct lane_access a = trace_lane(&v->lanes, n);
        v->blocks = (int64_t)a.block + 1 > v->blocks ? (int64_t)a.block + 1 : v->blocks;
    }
    return v->block < v->blocks || refuse(why, "--live block=%lld: the trace has blocks 0 to %lld",
                                          (long long)v->block, (long long)v->blocks - 1);
}

bool lanes_tell(struct lanes_view *v, struct message *why)
{
    if (!read_chunks(v, why) || !lane_requests_new(&v->requests, &v->lanes, v->block, why))
        return false;
    if (!find_barriers(v))
        return refuse(why, "no memory for %zu waits", v->sync.waits);
    if (!make_tasks(v, why))
        return false;
    for (size_t n = 0; n < v->tasks; n++)
        for (int w = v->warps; w < TIMED_WARPS; w++)
            if (v->task[n].warps >> w & 1)
                v->warps = w + 1;
    return (make_steps(v) && sum_lines(v) && place_findings(v)) ||
           refuse(why, "no memory for %zu requests", v->requests.count);
}

static void file_name(const struct lanes_view *v, bool of_sync, uint32_t file, char *name,
                      size_t room)
{
    size_t length = 0, count = of_sync ? v->sync.names : v->lanes.files;
    const char *text = "";
    if (file < count)
        text = of_sync ? trace_sync_name(&v->sync, file, &length)
                       : trace_lane_file(&v->lanes, file, &length);
    snprintf(name, room, "%.*s", (int)length, text);
}

struct place_words lanes_place(const struct lanes_view *v, bool of_sync, uint32_t file,
                               uint32_t line)
{
    struct place_words p = {"?"};
    char name[256];
    if (line == 0)
        return p;
    file_name(v, of_sync, file, name, sizeof name);
    const char *slash = strrchr(name, '/');
    snprintf(p.text, sizeof p.text, "%.60s:%u", slash != NULL ? slash + 1 : name, line);
    return p;
}

const char *lanes_listing(const struct lanes_view *v, bool of_sync, uint32_t file)
{
    char name[256];
    file_name(v, of_sync, file, name, sizeof name);
    return listing_file(name);
}

void lanes_finding_words(const struct lanes_view *v, int finding, char *text, size_t room)
{
    static const char *const now[LANE_VERBS] = {"reads", "writes", "changes atomically"};
    static const char *const past[LANE_VERBS] = {"read", "wrote", "changed atomically"};
    struct sync_finding f = trace_finding(&v->sync, (size_t)finding);
    size_t length;
    const char *meaning = trace_sync_name(&v->sync, f.meaning, &length);
    int used =
        snprintf(text, room, "%.*s: warp %u, lane %u %s at %s", (int)length, meaning, f.thread / 32,
                 f.thread % 32, f.flags & SYNC_COPY ? "copies by cp.async" : now[f.verb],
                 lanes_place(v, true, f.file, f.line).text);
    if (f.flags & SYNC_OTHER && used >= 0 && (size_t)used < room)
        snprintf(text + used, room - (size_t)used, "; %swarp %u, lane %u %s at %s",
                 f.flags & SYNC_SAME_BLOCK ? "" : "another block's ", f.other_thread / 32,
                 f.other_thread % 32,
                 f.flags & SYNC_OTHER_COPY ? "copied by cp.async" : past[f.other_verb],
                 lanes_place(v, true, f.other_file, f.other_line).text);
}
