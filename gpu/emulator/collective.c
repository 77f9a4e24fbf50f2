/* collective.c: lanes of a warp meet, and the last one does the work: shuffles, votes, __syncwarp.

   Lanes meet when kind, mask and site agree.  Several groups with disjoint masks may be under way
   in one warp.  Lanes that have exited are not waited for; a kind whose lanes must all be present
   reports them. */
#include "gpu/emulator/runtime.h"

#include "gpu/emulator/detector.h"

static bool same_group(const struct rendezvous *r, const struct collective *kind, uint32_t mask,
                       struct cuemu_site at)
{
    return r->kind == kind && r->named == mask && r->at.line == at.line && r->at.file == at.file;
}

static void check_mask(const struct lane *l, const struct collective *kind, uint32_t mask,
                       struct cuemu_site at)
{
    uint32_t gone = mask & l->warp->exited;
    if (gone != 0 && kind->all_present)
        report(FAULT_EXITED_LANE, at, nowhere, "%s by %s names lanes that have exited: %s",
               kind->name, name_of(l).text, lanes_text(gone).text);
}

/* The group that the lane joins, a new one if there is none. */
static struct rendezvous *find_group(struct lane *l, const struct collective *kind, uint32_t mask,
                                     struct cuemu_site at)
{
    struct warp *w = l->warp;
    for (int i = 0; i < w->opens; i++)
        if (same_group(&w->open[i], kind, mask, at))
            return &w->open[i];
    check_mask(l, kind, mask, at);
    struct rendezvous *r = &w->open[w->opens++];
    *r = (struct rendezvous){kind, mask, mask & w->exists & ~w->exited, 0, at};
    return r;
}

static void complete(struct warp *w, struct rendezvous *r)
{
    const struct collective *kind = r->kind;
    uint32_t lanes = r->arrived;
    emulator_count.collectives++;
    emulated.progress++;
    emulated.yields = 0;
    kind->perform(w, r);
    *r = w->open[--w->opens];
    detector_converge(w);
    make_runnable(w, lanes);
}

void meet_first_or_last(const struct collective *kind, uint32_t mask, struct cuemu_site at)
{
    struct lane *l = running_lane();
    uint32_t own = UINT32_C(1) << l->number;
    struct rendezvous *r = find_group(l, kind, mask, at);
    if ((mask & own) == 0) {
        report(FAULT_BAD_MASK, at, nowhere, "%s with mask %08x, which omits the caller, %s",
               kind->name, mask, name_of(l).text);
        r->mask |= own; /* it takes part all the same, or it would wait for ever */
    }
    r->arrived |= own;
    stop_running(l);
    if (r->arrived == r->mask)
        complete(l->warp, r);
    schedule();
}

void leave_collectives(struct lane *l)
{
    struct warp *w = l->warp;
    uint32_t own = UINT32_C(1) << l->number;
    for (int i = w->opens - 1; i >= 0; i--) {
        struct rendezvous *r = &w->open[i];
        if ((r->mask & own) == 0)
            continue;
        r->mask &= ~own;
        if (r->kind->all_present)
            report(FAULT_EXITED_LANE, r->at, nowhere,
                   "%s names a lane that exits without it: %s; lanes %s wait there", r->kind->name,
                   name_of(l).text, lanes_text(r->arrived).text);
        if (r->arrived == r->mask)
            complete(w, r);
    }
}

static void perform_syncwarp(struct warp *w, const struct rendezvous *r)
{
    (void)r;
    detector_syncwarp(w);
}
static const struct collective syncwarp = {"__syncwarp", perform_syncwarp, false};

void cuemu_syncwarp(uint32_t mask, struct cuemu_site at)
{
    meet(&syncwarp, mask, at);
}

static void perform_ballot(struct warp *w, const struct rendezvous *r)
{
    uint32_t votes = 0, mask = r->arrived;
    for (uint32_t left = mask; left != 0; left &= left - 1)
        votes |= (uint32_t)w->lane[__builtin_ctz(left)].value << __builtin_ctz(left);
    for (uint32_t left = mask; left != 0; left &= left - 1)
        w->lane[__builtin_ctz(left)].seen.result = votes;
}
static const struct collective ballot = {"vote", perform_ballot, false};

void cuemu_ballot(uint32_t mask, int predicate, struct cuemu_site at)
{
    struct lane *l = running_lane();
    l->value = predicate != 0;
    meet(&ballot, mask, at);
}

uint32_t cuemu_active_mask(void)
{
    struct lane *l = running_lane();
    return l->warp->runnable;
}

/* The lane that `lane` reads: in its segment, or itself. */
static int source_of(enum cuemu_shuffle kind, int lane, int argument, int width)
{
    int first = lane & ~(width - 1), source = lane;
    switch (kind) {
    case CUEMU_SHUFFLE_INDEX:
        return first + (argument & (width - 1));
    case CUEMU_SHUFFLE_UP:
        source = lane - argument;
        return source < first ? lane : source;
    case CUEMU_SHUFFLE_DOWN:
        source = lane + argument;
        break;
    case CUEMU_SHUFFLE_XOR:
        source = lane ^ argument;
        break;
    }
    return source < first + width && source >= 0 ? source : lane;
}

static void shuffle(enum cuemu_shuffle kind, struct warp *w, const struct rendezvous *r)
{
    for (uint32_t left = r->arrived; left != 0; left &= left - 1) {
        int n = __builtin_ctz(left);
        struct lane *l = &w->lane[n];
        int source = source_of(kind, n, l->argument, l->width);
        if ((r->arrived >> source & 1) == 0)
            report(FAULT_BAD_LANE, r->at, nowhere,
                   "%s: %s reads lane %d, which takes no part (mask %08x)", r->kind->name,
                   name_of(l).text, source, r->named);
        l->seen.result = w->lane[source].value;
    }
}

static void perform_index(struct warp *w, const struct rendezvous *r)
{
    shuffle(CUEMU_SHUFFLE_INDEX, w, r);
}
static void perform_up(struct warp *w, const struct rendezvous *r)
{
    shuffle(CUEMU_SHUFFLE_UP, w, r);
}
static void perform_down(struct warp *w, const struct rendezvous *r)
{
    shuffle(CUEMU_SHUFFLE_DOWN, w, r);
}
static void perform_xor(struct warp *w, const struct rendezvous *r)
{
    shuffle(CUEMU_SHUFFLE_XOR, w, r);
}
static const struct collective shuffles[] = {
    [CUEMU_SHUFFLE_INDEX] = {"__shfl_sync", perform_index, true},
    [CUEMU_SHUFFLE_UP] = {"__shfl_up_sync", perform_up, true},
    [CUEMU_SHUFFLE_DOWN] = {"__shfl_down_sync", perform_down, true},
    [CUEMU_SHUFFLE_XOR] = {"__shfl_xor_sync", perform_xor, true},
};

void cuemu_shuffle(enum cuemu_shuffle kind, uint32_t mask, uint64_t value, int argument, int width,
                   struct cuemu_site at)
{
    struct lane *l = running_lane();
    l->value = value;
    l->argument = argument;
    l->width = width;
    meet(&shuffles[kind], mask, at);
}
