/* findings.c: see findings.h. */
#include "gpu/emulator/findings.h"

#include <stdio.h>

#include "gpu/emulator/lanes.h"
#include "gpu/emulator/origins.h"

enum { MOST_FINDINGS = 64 };
static struct finding {
    enum emulator_fault fault;
    enum space space;
    size_t offset;
    struct party me, other; /* other.from 0: nobody */
} findings[MOST_FINDINGS];
static int count;

void findings_add(enum emulator_fault fault, enum space space, size_t offset,
                  const struct party *me, const struct party *other)
{
    struct finding new = {fault, space, offset, *me, {0}};
    if (other != NULL)
        new.other = *other;
    for (int n = 0; n < count; n++) {
        const struct finding *f = &findings[n];
        if (f->fault == fault && f->me.from == new.me.from && f->other.from == new.other.from)
            return;
    }
    if (count == MOST_FINDINGS)
        return;
    findings[count++] = new;
    lanes_finding(fault, space, offset, me, other);
}

void findings_misaligned(const struct lane *l, enum space space, size_t offset, enum access access,
                         uint64_t from)
{
    struct party me = {.from = from,
                       .thread = l->warp->number * WARP_LANES + l->number,
                       .same_block = true,
                       .access = access};
    findings_add(FAULT_MISALIGNED, space, offset, &me, NULL);
}

struct party_text {
    char text[160];
};

static struct party_text thread_text(const struct party *p)
{
    struct party_text t;
    snprintf(t.text, sizeof t.text, "%sthread %d (warp %d, lane %d)",
             p->same_block ? "" : "another block's ", p->thread, p->thread / WARP_LANES,
             p->thread % WARP_LANES);
    return t;
}

static const char *place_name(enum space space)
{
    return space == SPACE_GLOBAL ? "global" : space == SPACE_OUTSIDE ? "outside, at" : "shared";
}

static const char *verb_of(const struct party *p, bool past)
{
    static const char *const verbs[3][2] = {
        {"reads", "read"}, {"writes", "wrote"}, {"changes atomically", "changed atomically"}};
    return p->copy ? past ? "copied by cp.async" : "copies by cp.async" : verbs[p->access][past];
}

static void report_one(const struct finding *f, struct cuemu_site at, struct cuemu_site other)
{
    char where[96], other_place[320] = "";
    const struct cuemu_index *b = &cuemu_grid.block;
    snprintf(where, sizeof where, "%s +0x%zx, block (%u,%u,%u)", place_name(f->space), f->offset,
             b->x, b->y, b->z);
    if (other.line != 0)
        snprintf(other_place, sizeof other_place, " at %s:%d", other.file, other.line);
    if (f->other.from == 0)
        report(f->fault, at, other, "%s: %s: %s %s", emulator_fault_meaning(f->fault), where,
               thread_text(&f->me).text, verb_of(&f->me, false));
    else
        report(f->fault, at, other, "%s: %s: %s %s; %s %s%s", emulator_fault_meaning(f->fault),
               where, thread_text(&f->me).text, verb_of(&f->me, false), thread_text(&f->other).text,
               verb_of(&f->other, true), other_place);
}

void findings_report(void)
{
    uint64_t from[2 * MOST_FINDINGS];
    struct cuemu_site site[2 * MOST_FINDINGS];
    for (int n = 0; n < count; n++) {
        from[2 * n] = findings[n].me.from;
        from[2 * n + 1] = findings[n].other.from;
    }
    if (count > 0)
        sites_of_origins(from, 2 * count, site);
    for (int n = 0; n < count; n++)
        report_one(&findings[n], site[2 * n], site[2 * n + 1]);
    count = 0;
}
