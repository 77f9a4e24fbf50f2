/* bench_memory.c: memory against the number of keys, and threads over heads.

   Each size runs in a child of its own; what it needs is its peak resident size less that of a
   child that only makes the problem.  Tiled algorithms keep tiles and the outputs: four times the
   keys need no more, four times the rows four times as much at most.  `standard` keeps rows x keys:
   four times both need sixteen times as much. */
#define _DEFAULT_SOURCE /* wait4 */
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulator/simulate.h"
#include "tests/bench/bench.h"
#include "tests/random_problem.h"

static void make(struct problem *p, struct shape shape)
{
    struct problem_options options = problem_defaults();
    uint64_t state = 1;
    if (!draw_problem(p, FORMAT_FP32, shape, 1, &options, &state))
        exit(1);
}

static uint64_t attend(const struct problem *p, enum algorithm a, int threads)
{
    struct simulation s = simulation_default();
    struct result result;
    struct message why;
    s.algorithm = a;
    s.threads = threads;
    if (!simulate(p, &s, &result, &why)) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    result_free(&result);
    return result.digest;
}

/* A child's peak resident size, KiB. */
static double peak(struct shape shape, enum algorithm a, bool run)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct problem p;
        make(&p, shape);
        if (run)
            attend(&p, a, 1);
        _exit(0);
    }
    struct rusage usage;
    int status;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        exit(1);
    return (double)usage.ru_maxrss;
}

static double needed(struct shape shape, enum algorithm a)
{
    return peak(shape, a, true) - peak(shape, a, false);
}

/* `square`: as many queries as keys. */
static void growth(const char *what, enum algorithm a, int keys, bool square, double goal)
{
    double kib[3];
    for (int i = 0; i < 3; i++) {
        int64_t n = (int64_t)keys << i;
        kib[i] = needed((struct shape){1, 1, 1, square ? n : 64, n, 64}, a);
    }
    char with[40], label[40];
    snprintf(label, sizeof label, "%s %s %d", what, square ? "N = Nk =" : "Nk =", 4 * keys);
    snprintf(with, sizeof with, "the same at %d", keys);
    bench_row(label, kib[2], "KiB", with, kib[0], goal);
}

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void threads_over_heads(void)
{
    enum { MOST = 7 };
    const int rounds = bench_fewer(MOST);
    struct problem p;
    double time[2][MOST];
    uint64_t digest[2];
    make(&p, (struct shape){1, 8, 8, 512, 512, 64});
    for (int round = 0; round < rounds; round++)
        for (int n = 0; n < 2; n++) {
            double start = wall();
            digest[n] = attend(&p, ALGORITHM_FA2, n + 1);
            time[n][round] = wall() - start;
        }
    double one = bench_median(time[0], rounds), two = bench_median(time[1], rounds);
    bench_row("8 heads, 2 threads (wall)", two, "s", "1 thread", one, 0);
    bench_note("the digests of 1 and 2 threads %s",
               digest[0] == digest[1] ? "are equal" : "DIFFER");
}

int main(void)
{
    growth("fa2", ALGORITHM_FA2, 8192, false, 1.2);
    growth("fa2", ALGORITHM_FA2, 1024, true, 4.4);
    growth("standard", ALGORITHM_STANDARD, 512, true, 0);
    threads_over_heads();
    return 0;
}
