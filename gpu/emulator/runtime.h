/* runtime.h: what the emulator's own files share: lanes, warps, the block that runs.

   A lane that reaches a collective waits; the last one that the mask names performs the operation
   for all, through the operands that each left in its `struct lane`, and every one of them may run
   again.  Nothing here is thread-safe: one launch at a time. */
#ifndef FLASHULP_EMULATOR_RUNTIME_H
#define FLASHULP_EMULATOR_RUNTIME_H

#include "gpu/emulator/calls.h"
#include "gpu/emulator/emulator.h"
#include "gpu/emulator/fibre.h"
#include "gpu/emulator/mma_tile.h"

enum { WARP_LANES = 32, BLOCK_WARPS = 32, BLOCK_LANES = 1024, BARRIERS = 16 };

struct warp;
struct rendezvous;
/* Of each kind one object: its address is the kind. */
struct collective {
    const char *name;
    void (*perform)(struct warp *w, const struct rendezvous *r); /* for every lane that arrived */
    bool all_present; /* every lane that the mask names must be there: none has exited */
};

/* A copy that has been issued: NULL once it is done. */
struct pending_copy {
    unsigned char *dst;
    const unsigned char *src;
    int bytes;
    unsigned group; /* the groups that were committed before it */
    struct cuemu_site at;
};

struct lane {
    struct cuemu_lane seen; /* first: cuemu_self points to it */
    int number;             /* in its warp */
    struct warp *warp;
    struct fibre fibre;
    struct cuemu_site at; /* the barrier where it waits, or where it spins */
    /* operands of shuffles and votes */
    uint64_t value;
    int argument, width;
    /* cp.async, oldest first from `first` on */
    struct pending_copy *copy;
    int first, copies, room;
    unsigned groups; /* committed */
};

/* Lanes that have arrived at a collective which others are still to reach. */
struct rendezvous {
    const struct collective *kind;
    uint32_t named, mask, arrived; /* mask: the named lanes that have not exited */
    struct cuemu_site at;
};

/* A lane runs, or has exited, or waits: at a barrier, or in an open rendezvous as one arrived. */
struct warp {
    struct lane *lane; /* WARP_LANES of them */
    int number;
    uint32_t exists, runnable, exited;
    uint32_t at_barrier[BARRIERS];
    struct rendezvous open[WARP_LANES];
    int opens;
    /* mma and ldmatrix: what each lane gave, and gets */
    struct mma_fragments fragments;
    const void *row[WARP_LANES];
    uint32_t loaded[4][WARP_LANES];
};

struct barrier {
    int arrived, needed; /* needed: 0 while nobody waits */
    struct cuemu_site at;
    bool divergent;
};

struct block {
    struct warp warp[BLOCK_WARPS];
    struct lane lane[BLOCK_LANES];
    int warps, threads, alive;
    uint32_t ready; /* warps with a runnable lane */
    struct barrier barrier[BARRIERS];
    struct fibre host;
    bool running; /* lanes run: a fault is theirs */
    bool abandoned;
    uint64_t yields;   /* since somebody got on */
    uint64_t progress; /* collectives, barriers, exits: what the watchdog looks at */
    const struct cuemu_launch *launch;
    struct cuemu_site launched_at;
};
extern struct block emulated;
extern struct emulator_options emulator_options;
extern struct emulator_counters emulator_count;

static inline struct lane *running_lane(void)
{
    return (struct lane *)cuemu_self;
}

/* schedule.c */
void schedule(void); /* lets another lane run; returns when the caller's turn comes again */
static inline void make_runnable(struct warp *w, uint32_t lanes)
{
    w->runnable |= lanes;
    if (w->runnable != 0)
        emulated.ready |= UINT32_C(1) << w->number;
}
static inline void stop_running(struct lane *l)
{
    struct warp *w = l->warp;
    w->runnable &= ~(UINT32_C(1) << l->number);
    if (w->runnable == 0)
        emulated.ready &= ~(UINT32_C(1) << w->number);
}
/* Back to the host, from any lane, and never again to it.  Not declared so: the address sanitizer
   would then clear a stack that it takes for the thread's. */
void abandon_launch(void);
uint64_t next_random(void);

static inline void switch_to(struct lane *from, struct lane *to)
{
    cuemu_self = &to->seen;
    emulator_count.switches++;
    fibre_switch(&from->fibre, &to->fibre);
}

/* collective.c */
void meet_first_or_last(const struct collective *kind, uint32_t mask, struct cuemu_site at);

/* Returns when the operation has been performed for the running lane.  Most lanes join a group
   that is not yet complete and give way to the next one of their warp; as the last thing a caller
   does, that is a jump into the other lane's kernel, without returns that a processor would predict
   by the wrong lane's. */
static inline void meet(const struct collective *kind, uint32_t mask, struct cuemu_site at)
{
    struct lane *l = running_lane();
    struct warp *w = l->warp;
    struct rendezvous *r = &w->open[0];
    uint32_t own = UINT32_C(1) << l->number;
    bool joins = w->opens == 1 && r->kind == kind && r->named == mask && r->at.line == at.line &&
                 r->at.file == at.file && (r->arrived | own) != r->mask && w->runnable != own &&
                 emulator_options.threads == EMULATOR_ASCENDING && (mask & own) != 0;
    if (!joins) {
        meet_first_or_last(kind, mask, at);
        return;
    }
    r->arrived |= own;
    w->runnable &= ~own;
    switch_to(l, &w->lane[__builtin_ctz(w->runnable)]);
}

void leave_collectives(struct lane *l); /* l exits */
/* barrier.c */
void leave_barriers(struct lane *l);

/* async.c */
void leave_copies(struct lane *l);
void forget_copies(struct lane *l);

/* memory.c */
bool shared_memory_begin(size_t bytes);  /* of a launch: false: no room */
size_t shared_memory_static_bytes(void); /* of all kernels' __shared__ arrays */
void shared_memory_poison(void);         /* of a block */
void shared_memory_check(void);          /* after a block: was anything written past the end? */
enum space { SPACE_NONE, SPACE_SHARED, SPACE_STATIC_SHARED, SPACE_GLOBAL, SPACE_OUTSIDE };
/* Which memory the bytes lie in, and where in it; SPACE_OUTSIDE: touches the device's memory but
   leaves what was allocated. */
enum space space_of(const void *address, size_t bytes, size_t *offset);
/* Which piece of global memory, in the order of addresses. */
uint32_t piece_number(const void *address);
/* What an address that faulted is near to, in words. */
struct place_text {
    char text[128];
};
struct place_text place_text(const void *address);

void global_memory_check(void); /* after a launch: likewise */

/* matrix.c */
void matrix_configure(const struct mma *mma);

/* crash.c */
void faults_begin(void); /* around the lanes' running */
void faults_end(void);
void report_crash(void); /* back in the host: if a lane's code faulted */

/* report.c */
void report(enum emulator_fault fault, struct cuemu_site at, struct cuemu_site other,
            const char *format, ...) __attribute__((format(printf, 4, 5)));
static const struct cuemu_site nowhere = {NULL, 0};
struct lane_name {
    char text[96];
};
struct lane_name name_of(const struct lane *l); /* "block (0,0,0), thread 37 (warp 1, lane 5)" */
struct lanes_text {
    char text[160];
};
struct lanes_text lanes_text(uint32_t lanes); /* "0-15,31" */
void report_deadlock(enum emulator_fault fault, const char *headline);

#endif
