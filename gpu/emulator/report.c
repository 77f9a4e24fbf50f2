/* report.c: reports and the options: what the emulator remembers between launches. */
#include "gpu/emulator/lanes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simulator/cpu.h"

enum { MOST_REPORTS = 64 };

struct emulator_options emulator_options;
struct emulator_counters emulator_count;
static struct emulator_report reports[MOST_REPORTS];
static int report_count;

static const char *const meanings[] = {
#define EMULATOR_FAULT(id, meaning) meaning,
#include "gpu/emulator/faults.def"
#undef EMULATOR_FAULT
};

const char *emulator_fault_meaning(enum emulator_fault fault)
{
    return meanings[fault];
}

struct emulator_options emulator_defaults(void)
{
    return (struct emulator_options){.threads = EMULATOR_ASCENDING,
                                     .blocks = EMULATOR_ASCENDING,
                                     .seed = 1,
                                     .late_copies = true,
                                     .poison = true,
                                     .most_reports = 16,
                                     .stuck_seconds = 5,
                                     .stuck_yields = 1000000};
}

void emulator_configure(const struct emulator_options *options)
{
    emulator_options = *options;
    if (emulator_options.most_reports > MOST_REPORTS)
        emulator_options.most_reports = MOST_REPORTS;
    matrix_configure(options->mma);
}

int cuemu_has_fma;

float cuemu_library_fmaf(float a, float b, float c)
{
    return fmaf(a, b, c);
}

/* Before main: what a host that says nothing gets. */
__attribute__((constructor)) static void begin(void)
{
    struct emulator_options options = emulator_defaults();
    emulator_configure(&options);
    cuemu_has_fma = cpu_level() > CPU_BASE;
}

const struct emulator_counters *emulator_counters(void)
{
    return &emulator_count;
}

int emulator_reports(void)
{
    return report_count;
}

const struct emulator_report *emulator_report(int n)
{
    return &reports[n];
}

void emulator_reset(void)
{
    report_count = 0;
    lanes_forget();
    emulator_count = (struct emulator_counters){0};
}

static void keep_site(char *file, size_t room, int *line, struct cuemu_site at)
{
    snprintf(file, room, "%s", at.file != NULL ? at.file : "");
    *line = at.line;
}

/* Room for one more, or NULL; one that says the same of the same places is dropped. */
static struct emulator_report *new_report(enum emulator_fault fault, struct cuemu_site at,
                                          struct cuemu_site other)
{
    emulator_count.reports++;
    for (int n = 0; n < report_count; n++) {
        const struct emulator_report *r = &reports[n];
        if (r->fault == fault && r->line == at.line && r->other_line == other.line && at.line != 0)
            return NULL;
    }
    if (report_count >= emulator_options.most_reports)
        return NULL;
    struct emulator_report *r = &reports[report_count++];
    r->fault = fault;
    keep_site(r->file, sizeof r->file, &r->line, at);
    keep_site(r->other_file, sizeof r->other_file, &r->other_line, other);
    return r;
}

void report(enum emulator_fault fault, struct cuemu_site at, struct cuemu_site other,
            const char *format, ...)
{
    struct emulator_report *r = new_report(fault, at, other);
    if (r == NULL)
        return;
    va_list arguments;
    int used = 0;
    if (at.line != 0)
        used = snprintf(r->text, sizeof r->text, "%s:%d: ", at.file, at.line);
    va_start(arguments, format);
    vsnprintf(r->text + used, sizeof r->text - (size_t)used, format, arguments);
    va_end(arguments);
}

struct lane_name name_of(const struct lane *l)
{
    struct lane_name name;
    const struct cuemu_index *b = &cuemu_grid.block;
    snprintf(name.text, sizeof name.text, "block (%u,%u,%u), thread %d (warp %d, lane %d)", b->x,
             b->y, b->z, l->warp->number * WARP_LANES + l->number, l->warp->number, l->number);
    return name;
}

struct lanes_text lanes_text(uint32_t lanes)
{
    struct lanes_text t = {""};
    size_t used = 0;
    for (int n = 0; n < WARP_LANES; n++) {
        int last = n;
        if ((lanes >> n & 1) == 0)
            continue;
        while (last + 1 < WARP_LANES && (lanes >> (last + 1) & 1) != 0)
            last++;
        used += (size_t)snprintf(t.text + used, sizeof t.text - used, last > n ? "%s%d-%d" : "%s%d",
                                 used > 0 ? "," : "", n, last);
        n = last;
    }
    if (used == 0)
        snprintf(t.text, sizeof t.text, "none");
    return t;
}

/* The barrier where a lane of the warp waits, or -1. */
static int barrier_of(const struct warp *w, uint32_t lane)
{
    for (int id = 0; id < BARRIERS; id++)
        if ((w->at_barrier[id] & lane) != 0)
            return id;
    return -1;
}

static const struct rendezvous *rendezvous_of(const struct warp *w, uint32_t lane)
{
    for (int i = 0; i < w->opens; i++)
        if ((w->open[i].arrived & lane) != 0)
            return &w->open[i];
    return NULL;
}

/* What a lane waits for, and where; false: it has exited. */
static bool waits_for(const struct lane *l, char what[96], struct cuemu_site *at)
{
    const struct warp *w = l->warp;
    uint32_t own = UINT32_C(1) << l->number;
    const struct rendezvous *r = rendezvous_of(w, own);
    int id = barrier_of(w, own);
    *at = r != NULL ? r->at : l->at;
    if (r != NULL)
        snprintf(what, 96, "%s, mask %08x, for lanes %.24s", r->kind->name, r->named,
                 lanes_text(r->mask & ~r->arrived).text);
    else if (id == 0)
        snprintf(what, 96, "__syncthreads");
    else if (id > 0)
        snprintf(what, 96, "barrier %d, %d of %d threads", id, emulated.barrier[id].arrived,
                 emulated.barrier[id].needed);
    else
        snprintf(what, 96, (w->exited & own) != 0 ? "exited" : "runs");
    return (w->exited & own) == 0;
}

/* As the table says it; lanes of a warp with the same words share a row. */
static void words_for(const struct lane *l, char *text, size_t room)
{
    char what[96];
    struct cuemu_site at;
    if (waits_for(l, what, &at) && at.line != 0)
        snprintf(text, room, "%s at %s:%d", what, at.file, at.line);
    else
        snprintf(text, room, "%s", what);
}

/* A row for each warp and each thing its lanes wait for. */
static void deadlock_table(char *text, size_t room)
{
    char words[WARP_LANES][192];
    size_t used = (size_t)snprintf(text, room, "\n  warp  lanes           wait for");
    for (int n = 0; n < emulated.warps; n++) {
        const struct warp *w = &emulated.warp[n];
        uint32_t left = w->exists;
        for (int i = 0; i < WARP_LANES; i++)
            if ((left >> i & 1) != 0)
                words_for(&w->lane[i], words[i], sizeof words[i]);
        while (left != 0) {
            int first = __builtin_ctz(left);
            uint32_t same = 0;
            for (int i = first; i < WARP_LANES; i++)
                if ((left >> i & 1) != 0 && strcmp(words[i], words[first]) == 0)
                    same |= UINT32_C(1) << i;
            left &= ~same;
            int more = snprintf(text + used, room - used, "\n  %4d  %-14s  %s", n,
                                lanes_text(same).text, words[first]);
            used += (size_t)more < room - used ? (size_t)more : room - used - 1;
        }
    }
}

/* The first two different places where lanes wait. */
static void waiting_places(struct cuemu_site *at, struct cuemu_site *other)
{
    *at = *other = nowhere;
    for (int n = 0; n < emulated.threads; n++) {
        char what[96];
        struct cuemu_site here;
        if (!waits_for(&emulated.lane[n], what, &here) || here.line == 0)
            continue;
        if (at->line == 0)
            *at = here;
        else if (other->line == 0 && (here.line != at->line || here.file != at->file))
            *other = here;
    }
}

void report_deadlock(enum emulator_fault fault, const char *headline)
{
    static char table[3500];
    struct cuemu_site at, other;
    waiting_places(&at, &other);
    deadlock_table(table, sizeof table);
    report(fault, at, other, "%s: block (%u,%u,%u) of %s%s", headline, cuemu_grid.block.x,
           cuemu_grid.block.y, cuemu_grid.block.z, emulated.launch->kernel, table);
}
