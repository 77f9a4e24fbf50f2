/* bench.h: what the benchmarks share: one thread's CPU time, medians, one line of the table.

   The peers of a comparison run in turn, round after round, so that a busy machine slows them
   alike; times are medians, and only ratios are judged.  bench_row prints what run.sh passes
   through: what, ours, compared with, ratio, goal, met or slower; 80 columns. */
#ifndef FLASHULP_BENCH_H
#define FLASHULP_BENCH_H

#include <stdio.h>
#include <stdlib.h>
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
};

enum { BENCH_ROUNDS = 15, BENCH_MOST_ROUNDS = 401, BENCH_MOST_PEERS = 8 };

/* Every peer once a round; the round before the first warms up. */
static inline void bench_rounds(struct peer *peer, int peers, int rounds)
{
    static double time[BENCH_MOST_PEERS][BENCH_MOST_ROUNDS];
    int count[BENCH_MOST_PEERS] = {0};
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < peers; i++) {
            if (round > 0 && peer[i].every > 1 && round % peer[i].every != 0)
                continue;
            double start = bench_seconds();
            peer[i].work(peer[i].with);
            double taken = bench_seconds() - start;
            if (round >= 0)
                time[i][count[i]++] = taken;
        }
    for (int i = 0; i < peers; i++)
        peer[i].median = bench_median(time[i], count[i]);
}

/* A duration in a unit a reader takes in at a glance. */
struct bench_text {
    char text[24];
};

static inline struct bench_text bench_duration(double seconds)
{
    struct bench_text t;
    const char *unit = seconds >= 1 ? "s" : seconds >= 1e-3 ? "ms" : seconds >= 1e-6 ? "us" : "ns";
    double scale = seconds >= 1 ? 1 : seconds >= 1e-3 ? 1e3 : seconds >= 1e-6 ? 1e6 : 1e9;
    snprintf(t.text, sizeof t.text, "%.3g %s", seconds * scale, unit);
    return t;
}

/* ratio = ours / theirs, at most `goal` (0: no goal, for information). */
static inline void bench_row(const char *what, const char *ours, const char *with, double ratio,
                             double goal)
{
    char limit[16] = "-", text[16];
    if (goal > 0)
        snprintf(limit, sizeof limit, "%.3g", goal);
    snprintf(text, sizeof text, ratio < 0.1 ? "%.4f" : ratio < 100 ? "%.3f" : "%.0f", ratio);
    printf("%-25s %8s  %-23s %6s %4s %s\n", what, ours, with, text, limit,
           goal <= 0 ? "" : ratio <= goal ? " met" : " slower");
    fflush(stdout);
}

static inline void bench_times_row(const char *what, const struct peer *ours,
                                   const struct peer *theirs, double goal)
{
    bench_row(what, bench_duration(ours->median).text, theirs->name, ours->median / theirs->median,
              goal);
}

#endif
