/* process.h: somebody else's program, run in a process of its own under limits.

   It leads a process group that is killed when it ends or its time is over; on Linux what left the
   group is found as an orphan and killed, too.  Needs neither root nor namespaces.  What it prints
   is kept up to a size and counted beyond.  One that talks has descriptors 3 (to it) and 4 (from
   it): it can send whatever it likes there, so nothing it says is a verdict. */
#ifndef FLASHULP_PROCESS_H
#define FLASHULP_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "reference/message.h"

struct limits {
    const char *folder;  /* where it runs */
    double seconds;      /* on the wall, of the whole process, less what one that talks waited for
                            us; processor time likewise */
    int64_t memory;      /* bytes it may hold; 0: no limit */
    int64_t file_bytes;  /* of any file it writes */
    int64_t print_bytes; /* it may print; more ends it */
    bool address_space;  /* `memory` bounds the address space; else only written data, so that
                            reserving addresses, as GPU drivers do, stays allowed */
    bool stranger;       /* run by root: as process_stranger(), with a bound on the number of
                            processes */
    bool talks;          /* descriptors 3 and 4 are open */
    bool confined;       /* see process_confine.c */
    bool starts;         /* even so it may start processes */
};

enum ending {
    ENDING_RUNNING,
    ENDING_EXIT,   /* code: exit status */
    ENDING_SIGNAL, /* code: signal */
    ENDING_TIME,
    ENDING_PRINTED /* more than print_bytes */
};

struct process {
    pid_t pid;
    int printed, to, from; /* descriptors; -1: closed */
    struct limits limits;
    double deadline;
    double rests_since; /* it waits for us: since then; 0: it does not */
    enum ending ending;
    int code;
    char said[2048]; /* the beginning of what it printed, with a zero behind it */
    size_t said_length;
    int64_t said_total;
    bool survivors; /* something it had started was still running */
};

/* False: it could not even be started (a missing program exits with 127). */
bool process_start(struct process *p, const struct limits *limits, char *const *argv,
                   struct message *why);
/* Sends `count` bytes and waits for a reply of exactly `want` bytes, each of which may be 0.  False
   when the process ended, or its time did, before that. */
bool process_talk(struct process *p, const void *send, size_t count, void *reply, size_t want);
/* Waits until it has ended by itself or its time is over, then kills what is left of it. */
void process_wait(struct process *p);
/* Kills it now, unless it has ended, and what it left running. */
void process_kill(struct process *p);
/* "crashed: SIGSEGV", "was still running after 10 s", "exited with status 3": never empty. */
struct ending_text {
    char text[128];
};
struct ending_text process_ending(const struct process *p);
/* Who strangers are from now on: user 65534, or the n-th below.  So that graders side by side have
   different ones. */
void process_stranger(int n);
int process_stranger_user(void);
/* Nobody's program, run as the same user, may look into this process or stop it as debuggers do. */
void process_conceal(void);
/* Holds this process, and what it becomes, to the list of process_confine.c, as far as the kernel
   can; `starts`: starting processes is allowed. */
void process_confine(bool starts);
double process_clock(void); /* seconds, monotonic */

#endif
