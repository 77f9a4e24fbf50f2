/* runtime.h: what the emulator's own files share: lanes, warps, the block that runs.

   A lane that reaches a collective waits; the last one that the mask names performs the operation
   for all, through the operands that each left in its `struct lane`, and every one of them may run
   again.  Nothing here is thread-safe: one launch at a time. */
#ifndef FLASHULP_EMULATOR_RUNTIME_H
#define FLASHULP_EMULATOR_RUNTIME_H

#include "gpu/emulator/calls.h"
#include "gpu/emulator/emulator.h"
#include "gpu/emulator/fibre.h"

enum { WARP_LANES = 32, BLOCK_WARPS = 32, BLOCK_LANES = 1024, BARRIERS = 16 };

struct warp;
/* Of each kind one object: its address is the kind. */
struct collective {
    const char *name;
    void (*perform)(struct warp *w, uint32_t mask); /* for every lane of the mask */
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

enum lane_state { LANE_RUNS, LANE_COLLECTIVE, LANE_BARRIER, LANE_SPINS, LANE_EXITED };

struct lane {
    struct cuemu_lane seen; /* first: cuemu_self points to it */
    struct fibre fibre;
    struct warp *warp;
    int number; /* in its warp */
    enum lane_state state;
    struct cuemu_site at; /* where it waits */
    const struct collective *collective;
    uint32_t mask;
    int barrier;
    /* operands and results of collectives */
    uint64_t value, result;
    int argument, width;
    uint32_t *r;
    const void *row;
    float *d;
    const uint32_t *a, *b;
    /* cp.async, oldest first from `first` on */
    struct pending_copy *copy;
    int first, copies, room;
    unsigned groups, done; /* committed; known to be complete */
};

/* Lanes that have arrived at a collective which others are still to reach. */
struct rendezvous {
    const struct collective *kind;
    uint32_t named, mask, arrived; /* mask: the named lanes that have not exited */
    struct cuemu_site at;
};

struct warp {
    struct lane *lane; /* WARP_LANES of them */
    int number;
    uint32_t exists, runnable, exited;
    uint32_t at_barrier[BARRIERS];
    struct rendezvous open[WARP_LANES];
    int opens;
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
    uint64_t yields; /* since somebody got on */
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
void make_runnable(struct warp *w, uint32_t lanes);
void stop_running(struct lane *l, enum lane_state state, struct cuemu_site at);
void abandon_launch(void) __attribute__((noreturn)); /* back to the host, from any lane */
uint64_t next_random(void);

/* collective.c: true for the lane that is to perform and then to release the others. */
void meet(const struct collective *kind, uint32_t mask, struct cuemu_site at);
void leave_collectives(struct lane *l); /* l exits */
/* barrier.c */
void leave_barriers(struct lane *l);

/* async.c */
void leave_copies(struct lane *l);
void forget_copies(struct lane *l);

/* memory.c */
bool shared_memory_begin(size_t bytes); /* of a launch: false: no room */
size_t shared_memory_static_bytes(void); /* of all kernels' __shared__ arrays */
void shared_memory_poison(void);        /* of a block */
void shared_memory_check(void);         /* after a block: was anything written past the end? */
enum space { SPACE_NONE, SPACE_SHARED, SPACE_STATIC_SHARED, SPACE_GLOBAL, SPACE_OUTSIDE };
/* Which memory the bytes lie in, and where in it; SPACE_OUTSIDE: touches the device's memory but
   leaves what was allocated. */
enum space space_of(const void *address, size_t bytes, size_t *offset);
/* What an address that faulted is near to, in words. */
struct place_text {
    char text[128];
};
struct place_text place_text(const void *address);

void global_memory_check(void);         /* after a launch: likewise */

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
