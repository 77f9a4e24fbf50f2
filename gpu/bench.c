/* bench.c: `flashulp-gpu bench`: forward kernels on a GPU, TFLOP/s and the share of what mma.sync
   can do by itself; on the emulator, time and what it counted.  `trace`: the emulator's counters
   of one launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/emulator/device.h"
#include "gpu/gpu.h"

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The best of five rounds, in FLOP/s. */
static bool measure_peak(double *peak, struct message *why)
{
    float *out = dev_alloc(sizeof *out);
    *peak = 0;
    for (int round = 0; round < 5; round++) {
        double start = seconds_now();
        double work = gpu_mma_peak(2048, 4096, out);
        if (!target_finish(why))
            return false;
        double rate = work / (seconds_now() - start);
        *peak = rate > *peak ? rate : *peak;
    }
    dev_free(out);
    return true;
}

/* One launch at a time, device memory prepared once. */
struct timing {
    struct attention_args a;
    double flops, best;
};

static bool time_kernel(enum gpu_kernel k, struct timing *t, int rounds, struct message *why)
{
    t->best = 1e30;
    for (int round = 0; round < rounds; round++) {
        double start = seconds_now();
        target_kernels(false)->forward[k](t->a);
        if (!target_finish(why))
            return false;
        double taken = seconds_now() - start;
        t->best = taken < t->best ? taken : t->best;
    }
    return true;
}

static struct timing prepare(int heads, int N, int D, bool causal)
{
    size_t elements = (size_t)heads * (size_t)N * (size_t)D;
    uint16_t *x = malloc(elements * sizeof *x), *q = dev_alloc(2 * elements),
             *k = dev_alloc(2 * elements), *v = dev_alloc(2 * elements);
    uint32_t seed = 1;
    if (x == NULL || q == NULL || k == NULL || v == NULL)
        abort();
    uint16_t *const to[] = {q, k, v};
    for (int i = 0; i < 3; i++) {
        for (size_t n = 0; n < elements; n++) { /* bf16 of 1/4 to 2 in size */
            seed = seed * 1664525u + 1013904223u;
            x[n] = (uint16_t)(seed >> 31 << 15 | (0x3E80u + (seed >> 8 & 0x17Fu)));
        }
        dev_copy_in(to[i], x, 2 * elements);
    }
    free(x);
    struct attention_args a = {.q = q,
                               .k = k,
                               .v = v,
                               .o = dev_alloc(2 * elements),
                               .lse = dev_alloc((size_t)heads * (size_t)N * 4),
                               .batch = 1,
                               .heads_q = heads,
                               .heads_kv = heads,
                               .rows = N,
                               .keys = N,
                               .D = D,
                               .scale = 0.125f,
                               .causal = causal};
    double pairs = causal ? 0.5 * N * (N + 1.0) : (double)N * N;
    return (struct timing){a, 4.0 * heads * pairs * D, 0};
}

static void release(struct timing *t)
{
    dev_free((void *)t->a.q);
    dev_free((void *)t->a.k);
    dev_free((void *)t->a.v);
    dev_free(t->a.o);
    dev_free(t->a.lse);
}

static bool bench_shape(int heads, int N, int D, bool causal, double peak, struct message *why)
{
    struct timing t = prepare(heads, N, D, causal);
    bool ok = true;
    for (int hw = 0; hw < 2 && ok; hw++)
        for (int k = GPU_FA2_ROWS; k <= GPU_SPLITK && ok; k++) {
            struct message unfit;
            bool slow = k == GPU_FA2_ROWS || k == GPU_FA2_TILES;
            if ((slow && hw) || !gpu_fits((enum gpu_kernel)k, D, false, &unfit))
                continue;
            t.a.hw = hw;
            ok = time_kernel((enum gpu_kernel)k, &t, slow ? 1 : 5, why);
            printf("%-10s %2d heads N %5d d %3d %-6s exp %-4s %10.3f ms",
                   gpu_kernel_info((enum gpu_kernel)k)->name, heads, N, D, causal ? "causal" : "",
                   hw ? "hw" : "poly", 1e3 * t.best);
            if (peak > 0)
                printf(" %8.2f TFLOP/s %5.1f %%", 1e-12 * t.flops / t.best,
                       100 * t.flops / t.best / peak);
            puts("");
            fflush(stdout);
        }
    release(&t);
    return ok;
}

int verb_bench(int argc, char **argv)
{
    struct gpu_words w;
    struct message why;
    double peak = 0;
    bool emulated = target_is_emulator();
    if (!gpu_words_read(&w, argc, argv, &why))
        return gpu_refused("bench", &why);
    if (w.count > 0) {
        refuse(&why, "\"%.40s\": it takes no problem", w.rest[0]);
        return gpu_refused("bench", &why);
    }
    if (!target_configure(&w.target, &why) || (!emulated && !measure_peak(&peak, &why)))
        return gpu_refused("bench", &why);
    printf("on %s\n", target_name());
    if (emulated)
        printf("no GPU was asked: these are times of a CPU that plays one.  On a GPU: TFLOP/s,\n"
               "and the share of what mma.sync does out of registers\nexp hw: %s\n",
               gpu_exp_meaning(true));
    else
        printf("mma.sync m16n8k16 out of registers: %.4g TFLOP/s; %% is the share of that\n",
               1e-12 * peak);
    bool ok = emulated ? bench_shape(4, 128, 64, false, peak, &why)
                       : bench_shape(16, 8192, 128, false, peak, &why) &&
                             bench_shape(16, 8192, 128, true, peak, &why) &&
                             bench_shape(16, 8192, 64, false, peak, &why);
    if (!emulated)
        printf("no other attention library is linked: no ratio to one\n");
    return ok ? 0 : gpu_refused("bench", &why);
}
