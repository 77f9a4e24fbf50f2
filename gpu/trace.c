/* trace.c: `flashulp-gpu trace`: what one kernel did on the emulator, counted. */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/gpu.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

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

static bool trace(const struct gpu_words *w, struct report *r, struct message *why)
{
    struct gpu_pair p;
    struct gpu_output o;
    struct target_counters c;
    struct target_settings t = w->target;
    t.statistics = true;
    t.schedule =
        SCHEDULE_DETECTOR; /* ordinary accesses are counted by the kernels that report them */
    if (!target_is_emulator())
        return refuse(
            why,
            "a GPU does not say what its lanes did; the emulator does (flashulp-gpu --emulate)");
    if (!gpu_pair_new(&p, w->kernel, w->unit, w->count, w->rest, why))
        return false;
    bool ok = gpu_run_kernel(&p, &t, &o, why);
    target_count(&c);
    if (ok) {
        report_text(r, "%s, %s\n", gpu_kernel_info(w->kernel)->name, p.input.name);
        add_count(r, "blocks", "thread blocks", c.blocks);
        add_count(r, "threads", "threads", c.threads);
        add_count(r, "barriers", "barriers of a block, by warp", c.barriers);
        add_count(r, "mma", "mma.sync", c.mma);
        add_count(r, "ldmatrix", "ldmatrix", c.ldmatrix);
        add_passes(r, "ldmatrix_passes", "  passes over shared memory", c.ldmatrix_passes,
                   c.ldmatrix_ideal);
        add_count(r, "copies", "cp.async, by lane", c.copies);
        add_count(r, "atomics", "atomic operations, by lane", c.atomics);
        add_passes(r, "shared_passes", "other passes over shared memory", c.shared_passes,
                   c.shared_ideal);
        add_passes(r, "global_sectors", "sectors of global memory", c.global_sectors,
                   c.global_ideal);
        add_count(r, "switches", "switches between lanes", c.switches);
        report_text(r, "digest %016llx\n", (unsigned long long)gpu_digest(&p, &o));
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
    if (!gpu_words_read(&w, argc, argv, &why))
        return gpu_refused("trace", &why);
    report_new(&r, &none);
    bool ok = trace(&w, &r, &why);
    char *text = ok && w.json ? json_text(r.json) : NULL;
    if (ok)
        fputs(text != NULL ? text : r.text, stdout);
    if (text != NULL)
        putchar('\n');
    free(text);
    report_free(&r);
    return ok ? 0 : gpu_refused("trace", &why);
}
