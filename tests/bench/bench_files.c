/* bench_files.c: `flashulp compare` of two equal files against cmp and against reading them (cat),
   each a process of its own: processor time of all its threads, elapsed time, memory.

   The limit is reading; compare also takes SHA-256 of what it reads.  usage: bench_files PROGRAM */
#define _DEFAULT_SOURCE /* wait4 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"

enum { SMALL = 1 << 25, LARGE = 1 << 27, ROUNDS = 7 };
enum { CMP, CAT, COMPARE, PROGRAMS };

static char folder[] = "/tmp/flashulp-bench-XXXXXX", path[4][64];

/* Random fp32 below 1, no NaN, as a .npy. */
static void write_file(const char *name, long bytes)
{
    FILE *f = fopen(name, "wb");
    unsigned state = 1;
    if (f == NULL)
        exit(1);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    int length =
        fprintf(f, "{'descr': '<f4', 'fortran_order': False, 'shape': (%ld,), }", bytes / 4);
    fprintf(f, "%*s\n", 117 - length, "");
    for (long i = 0; i < bytes / 4; i++) {
        state = state * 1664525u + 1013904223u;
        float x = (float)(state >> 8) * 0x1p-24f;
        fwrite(&x, sizeof x, 1, f);
    }
    if (fclose(f) != 0)
        exit(1);
}

struct taken {
    double processor, elapsed, kib;
    int status;
};

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct taken once(char *const *words)
{
    struct rusage usage;
    int status;
    double start = wall();
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        execvp(words[0], words);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        exit(1);
    return (struct taken){.processor =
                              (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                              1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
                          .elapsed = wall() - start,
                          .kib = (double)usage.ru_maxrss,
                          .status = WIFEXITED(status) ? WEXITSTATUS(status) : 128};
}

static char *const *words_of(char *program, int which)
{
    static char *words[PROGRAMS + 1][5];
    char *const all[PROGRAMS + 1][5] = {{"cmp", path[0], path[1], NULL, NULL},
                                        {"cat", path[0], path[1], NULL, NULL},
                                        {program, "compare", path[0], path[1], NULL},
                                        {program, "compare", path[2], path[3], NULL}};
    memcpy(words, all, sizeof words);
    return words[which];
}

/* Medians over rounds in which every program runs once; false: it could not be run. */
static bool measure(char *program, int which, struct taken *medians, int rounds)
{
    static double time[PROGRAMS + 1][3][ROUNDS];
    static int done;
    for (; done < rounds; done++)
        for (int p = 0; p <= PROGRAMS; p++) {
            struct taken t = once(words_of(program, p));
            time[p][0][done] = t.processor;
            time[p][1][done] = t.elapsed;
            time[p][2][done] = t.kib;
        }
    medians->processor = bench_median(time[which][0], rounds);
    medians->elapsed = bench_median(time[which][1], rounds);
    medians->kib = bench_median(time[which][2], rounds);
    return once(words_of(program, which)).status == 0;
}

int main(int argc, char **argv)
{
    char *program = argc > 1 ? argv[1] : "build/flashulp";
    struct taken cmp, cat, compare, small;
    const int rounds = bench_fewer(ROUNDS);
    if (mkdtemp(folder) == NULL)
        return 1;
    for (int i = 0; i < 4; i++) {
        snprintf(path[i], sizeof path[i], "%s/%d.npy", folder, i);
        write_file(path[i], i < 2 ? LARGE : SMALL);
    }
    bool has_cmp = measure(program, CMP, &cmp, rounds);
    bool ok = measure(program, CAT, &cat, rounds) && measure(program, COMPARE, &compare, rounds) &&
              measure(program, PROGRAMS, &small, rounds);
    for (int i = 0; i < 4; i++)
        unlink(path[i]);
    rmdir(folder);
    if (!ok)
        return 1;
    if (has_cmp) {
        bench_found("cmp", "of this machine");
        bench_row("compare 2 x 128 MB", compare.processor, "s", "cmp", cmp.processor, 0);
        bench_row("compare 2 x 128 MB (wall)", compare.elapsed, "s", "cmp, then reading",
                  cmp.elapsed + cat.elapsed, 2);
    } else {
        bench_missing("cmp", "apt-get install diffutils");
    }
    bench_row("compare 2 x 128 MB", compare.processor, "s", "limit: reading (cat)", cat.processor,
              0);
    bench_row("its memory", compare.kib, "KiB", "of 2 x 32 MB", small.kib, 1.2);
    return 0;
}
