/* bench.h: what the benchmarks share: one thread's CPU time, medians, the lines that run.sh makes a
   table or JSON of.

   The peers of a comparison run in turn, round after round, so that a busy machine slows them
   alike; times are medians, and only ratios are judged.  Lines are fields separated by tabs: "row"
   what ours unit other theirs goal, "note" text, "missing" peer how-to-get-it, "found" peer version;
   run.sh knows no others.  BENCH_ROUNDS in the environment: fewer rounds. */
#ifndef FLASHULP_BENCH_H
#define FLASHULP_BENCH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_by_value(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static inline double bench_median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, bench_by_value);
    return x[n / 2];
}

/* One way to do the work; its times, in seconds, and their median. */
struct peer {
    const char *name;
    void (*work)(void *with);
    void *with;
    int every; /* slow ones run only in each n-th round; 0: in all */
    double median;
    double (*seconds)(void *with); /* instead of `work`: does it and says what it took */
};

enum { BENCH_ROUNDS = 15, BENCH_MOST_ROUNDS = 401, BENCH_MOST_PEERS = 8 };

static inline int bench_fewer(int rounds)
{
    const char *text = getenv("BENCH_ROUNDS");
    int asked = text != NULL ? atoi(text) : 0;
    return asked > 0 && asked < rounds ? asked : rounds;
}

static inline double bench_once(struct peer *peer)
{
    double start = bench_seconds();
    if (peer->seconds != NULL)
        return peer->seconds(peer->with);
    peer->work(peer->with);
    return bench_seconds() - start;
}

/* Every peer once a round; the round before the first warms up, unless one is all that is asked. */
static inline void bench_rounds(struct peer *peer, int peers, int rounds)
{
    static double time[BENCH_MOST_PEERS][BENCH_MOST_ROUNDS];
    int count[BENCH_MOST_PEERS] = {0};
    rounds = bench_fewer(rounds);
    for (int round = rounds > 1 ? -1 : 0; round < rounds; round++)
        for (int i = 0; i < peers; i++) {
            if (round > 0 && peer[i].every > 1 && round % peer[i].every != 0)
                continue;
            double taken = bench_once(&peer[i]);
            if (round >= 0)
                time[i][count[i]++] = taken;
        }
    for (int i = 0; i < peers; i++)
        peer[i].median = bench_median(time[i], count[i]);
}

/* ours / theirs is at most `goal` (0: no goal); both in `unit`: "s", "ns", "KiB". */
static inline void bench_row(const char *what, double ours, const char *unit, const char *other,
                             double theirs, double goal)
{
    printf("row\t%s\t%.17g\t%s\t%s\t%.17g\t%.17g\n", what, ours, unit, other, theirs, goal);
    fflush(stdout);
}

static inline void bench_times_row(const char *what, const struct peer *ours,
                                   const struct peer *theirs, double goal)
{
    bench_row(what, ours->median, "s", theirs->name, theirs->median, goal);
}

__attribute__((format(printf, 1, 2))) static inline void bench_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("note\t");
    vprintf(format, arguments);
    printf("\n");
    fflush(stdout);
    va_end(arguments);
}

/* A peer that was looked for: not here, with what would bring it; or here, which. */
static inline void bench_missing(const char *peer, const char *how)
{
    printf("missing\t%s\t%s\n", peer, how);
    fflush(stdout);
}

static inline void bench_found(const char *peer, const char *version)
{
    printf("found\t%s\t%s\n", peer, version);
    fflush(stdout);
}

#endif
