/* target_emulator.c: kernels on the emulator. */
#include <stdio.h>

#include "gpu/emulator/emulator.h"
#include "gpu/target.h"

const struct kernel_entries *target_kernels(bool watched)
{
    static const struct kernel_entries plain = KERNEL_ENTRIES(gpu_);
    static const struct kernel_entries checked = KERNEL_ENTRIES(checked_);
    return watched ? &checked : &plain;
}

bool target_is_emulator(void)
{
    return true;
}

bool target_here(struct message *why)
{
    (void)why;
    return true;
}

const char *target_name(void)
{
    return "the emulator: a CPU, no GPU";
}

const char *target_unit(void)
{
    return NULL;
}

int target_shared_bytes(void)
{
    return 227 * 1024; /* of H100 and H200 */
}

bool target_configure(const struct target_settings *s, struct message *why)
{
    struct emulator_options o = emulator_defaults();
    char text[32];
    o.seed = s->seed;
    o.late_copies = s->schedule != SCHEDULE_PLAIN;
    o.detector = s->schedule == SCHEDULE_DETECTOR && (!s->statistics || s->lanes > 0);
    o.statistics = s->statistics;
    o.most_lane_accesses = s->lanes;
    if (s->schedule == SCHEDULE_LATE)
        o.threads = o.blocks = EMULATOR_DESCENDING;
    if (s->schedule == SCHEDULE_RANDOM)
        o.threads = o.blocks = EMULATOR_RANDOM;
    snprintf(text, sizeof text, "mma@%s", s->unit != NULL ? s->unit : "");
    o.mma = s->unit != NULL ? mma_parse(text, why) : NULL;
    if (s->unit != NULL && o.mma == NULL)
        return false;
    emulator_configure(&o);
    emulator_reset();
    return true;
}

bool target_block_order(uint64_t blocks, uint64_t *number)
{
    emulator_block_order(blocks, number);
    return true;
}

bool target_finish(struct message *why)
{
    int reports = emulator_reports();
    return reports == 0 || refuse(why, "%s", emulator_report(0)->text);
}

void target_count(struct target_counters *c)
{
    const struct emulator_counters *e = emulator_counters();
    *c = (struct target_counters){
        e->blocks,        e->threads,      e->switches,       e->barriers,        e->mma,
        e->ldmatrix,      e->copies,       e->atomics,        e->ldmatrix_passes, e->ldmatrix_ideal,
        e->shared_passes, e->shared_ideal, e->global_sectors, e->global_ideal,    e->lane_accesses};
}

bool target_lanes(struct trace *t)
{
    return emulator_lanes(t);
}
