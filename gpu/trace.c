/* trace.c: `flashulp-gpu trace`: what one kernel did on the emulator, counted; with -o FILE every
   access of every lane, every wait at a barrier and every finding, with their files and lines, as
   the LANE and SYNC chunks of a trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"
#include "simulator/trace.h"

enum { MOST_ACCESSES = 4 << 20 }; /* 48 bytes each */

/* -o FILE and --force, taken out of argv. */
struct output {
    const char *path;
    bool force;
};

static bool take_output(struct output *o, int *argc, char **argv, struct message *why)
{
    int kept = 0;
    *o = (struct output){NULL, false};
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--force") == 0) {
            o->force = true;
        } else if (strcmp(argv[i], "-o") != 0) {
            argv[kept++] = argv[i];
        } else if (++i < *argc) {
            o->path = argv[i];
        } else {
            return refuse(why, "-o needs a file name, such as lanes.trace");
        }
    }
    *argc = kept;
    if (o->path == NULL || (strlen(o->path) > 6 && strcmp(strrchr(o->path, 0) - 6, ".trace") == 0))
        return true;
    return refuse(why, "-o %.200s: what lanes did is written as a .trace", o->path);
}

static bool write_lanes(const struct output *o, const struct gpu_pair *p, struct message *why)
{
    struct trace *t = trace_new(TRACE_EVENTS);
    bool ok = t != NULL && target_lanes(t);
    if (!ok)
        refuse(why, "%s: not written: no memory for the accesses", o->path);
    if (ok) {
        trace_set_meta(t, "kernel", gpu_kernel_info(p->kernel)->name);
        trace_set_meta(t, "problem", p->input.name);
        trace_set_meta(t, "device", target_name());
        ok = trace_write(t, o->path, o->force, why);
    }
    trace_free(t);
    return ok;
}

/* The kernel was stopped, or did what it should not: its trace is there all the same. */
static void write_what_was_found(const struct output *o, const struct gpu_pair *p,
                                 struct message *why)
{
    struct message found = *why, unwritten;
    if (write_lanes(o, p, &unwritten))
        refuse(why, "%s; what its lanes did is in %s", found.text, o->path);
}

static void add_count(struct report *r, const char *key, const char *what, uint64_t n)
{
    report_text(r, "  %-54s %14s\n", what, grouped((int64_t)n).text);
    json_whole(r->json, key, (int64_t)n);
}

/* "x 1.00" is as few as can be. */
static void add_passes(struct report *r, const char *key, const char *what, uint64_t n,
                       uint64_t ideal)
{
    char line[96];
    snprintf(line, sizeof line, "%s (x %.2f of the least)", what,
             ideal > 0 ? (double)n / (double)ideal : 1.0);
    add_count(r, key, line, n);
}

static void add_counts(struct report *r, const struct gpu_pair *p, const struct target_counters *c,
                       uint64_t digest)
{
    report_text(r, "%s, %s\n", gpu_kernel_info(p->kernel)->name, p->input.name);
    add_count(r, "blocks", "thread blocks", c->blocks);
    add_count(r, "threads", "threads", c->threads);
    add_count(r, "barriers", "barriers of a block, by warp", c->barriers);
    add_count(r, "mma", "mma.sync", c->mma);
    add_count(r, "ldmatrix", "ldmatrix", c->ldmatrix);
    add_passes(r, "ldmatrix_passes", "  passes over shared memory", c->ldmatrix_passes,
               c->ldmatrix_ideal);
    add_count(r, "copies", "cp.async, by lane", c->copies);
    add_count(r, "atomics", "atomic operations, by lane", c->atomics);
    add_passes(r, "shared_passes", "other passes over shared memory", c->shared_passes,
               c->shared_ideal);
    add_passes(r, "global_sectors", "sectors of global memory", c->global_sectors, c->global_ideal);
    add_count(r, "switches", "switches between lanes", c->switches);
    report_text(r, "digest %016llx\n", (unsigned long long)digest);
}

static bool trace(const struct gpu_words *w, const struct output *to, struct report *r,
                  struct message *why)
{
    struct gpu_pair p;
    struct gpu_output o;
    struct target_counters c;
    struct target_settings t = w->target;
    t.statistics = true;
    t.lanes = to->path != NULL ? MOST_ACCESSES : 0;
    t.schedule = SCHEDULE_DETECTOR; /* of the kernels that report their accesses */
    if (!target_is_emulator())
        return refuse(
            why,
            "a GPU does not say what its lanes did; the emulator does (flashulp-gpu --emulate)");
    if (!gpu_pair_new(&p, w->kernel, w->unit, w->count, w->rest, why))
        return false;
    bool ok = gpu_run_kernel(&p, &t, &o, why);
    if (!ok && to->path != NULL)
        write_what_was_found(to, &p, why);
    target_count(&c);
    if (ok)
        add_counts(r, &p, &c, gpu_digest(&p, &o));
    if (ok && t.hw)
        report_text(r, "%s\n", gpu_exp_meaning(true));
    json_string(r->json, "exp", gpu_exp_word(t.hw));
    if (ok && to->path != NULL) {
        uint64_t kept = c.accesses < MOST_ACCESSES ? c.accesses : MOST_ACCESSES;
        add_count(r, "accesses", "accesses by lanes", c.accesses);
        add_count(r, "accesses_written", "  of them written", kept);
        ok = write_lanes(to, &p, why);
    }
    gpu_output_free(&o);
    gpu_pair_free(&p);
    return ok;
}

int verb_trace(int argc, char **argv)
{
    struct gpu_words w;
    struct message why;
    struct scenario none = {.verb = "gpu"};
    struct report r;
    struct output to;
    if (!take_output(&to, &argc, argv, &why) || !gpu_words_read(&w, argc, argv, &why))
        return gpu_refused("trace", &why);
    report_new(&r, &none);
    bool ok = trace(&w, &to, &r, &why);
    char *text = ok && w.json ? json_text(r.json) : NULL;
    if (ok)
        fputs(text != NULL ? text : r.text, stdout);
    if (text != NULL)
        putchar('\n');
    free(text);
    report_free(&r);
    return ok ? 0 : gpu_refused("trace", &why);
}
