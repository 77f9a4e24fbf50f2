/* bench_calibration.c: what carries times over to other machines: one dependent fp64 multiply and
   add, and copying memory that fits the cache. */
#include <string.h>

#include "tests/bench/bench.h"

enum { STEPS = 1 << 20, BYTES = 1 << 17, COPIES = 64 };

static void dependent_steps(void *with)
{
    volatile double *number = with;
    double x = *number;
    for (int i = 0; i < STEPS; i++)
        x = x * 0.5 + 1;
    *number = x;
}

static void copies(void *with)
{
    static char to[BYTES];
    for (int i = 0; i < COPIES; i++) {
        memcpy(to, with, BYTES);
        *(volatile char *)with = to[i];
    }
}

int main(void)
{
    static char bytes[BYTES];
    double number = 1;
    struct peer peer[] = {{"", dependent_steps, &number, 0, 0, NULL},
                          {"", copies, bytes, 0, 0, NULL}};
    bench_rounds(peer, 2, BENCH_ROUNDS);
    bench_note("calibration: dependent fp64 multiply, add %.2f ns; memcpy in L2 %.1f GB/s",
               1e9 * peer[0].median / STEPS, 1e-9 * BYTES * COPIES / peer[1].median);
    return 0;
}
