/* bench.c: `flashulp-gpu bench`: forward kernels on a GPU, TFLOP/s and the share of what mma.sync
   can do by itself; on the emulator, time and what it counted.  `trace`: the emulator's counters
   of one launch. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/emulator/device.h"
#include "gpu/gpu.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

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
    double flops, seconds; /* the median round's */
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool time_kernel(enum gpu_kernel k, struct timing *t, int rounds, struct message *why)
{
    enum { MOST = 5 };
    double taken[MOST];
    assert(rounds <= MOST);
    for (int round = 0; round < rounds; round++) {
        double start = seconds_now();
        target_kernels(false)->forward[k](t->a);
        if (!target_finish(why))
            return false;
        taken[round] = seconds_now() - start;
    }
    qsort(taken, (size_t)rounds, sizeof *taken, ascending);
    t->seconds = taken[rounds / 2];
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

/* What is asked for, and where it goes. */
struct bench {
    const struct gpu_words *words;
    struct report report;
    struct json *rows;
    double peak; /* FLOP/s of mma.sync out of registers; 0: not measured */
};

static void add_row(struct bench *b, enum gpu_kernel k, const struct timing *t)
{
    const struct attention_args *a = &t->a;
    const char *name = gpu_kernel_info(k)->name, *exp = gpu_exp_word(a->hw);
    double rate = t->flops / t->seconds;
    struct json *row = json_object(b->rows, NULL);
    json_string(row, "kernel", name);
    json_string(row, "exp", exp);
    json_whole(row, "heads", a->heads_q);
    json_whole(row, "N", a->rows);
    json_whole(row, "d", a->D);
    json_truth(row, "causal", a->causal);
    json_real(row, "seconds", t->seconds);
    if (b->peak > 0) {
        json_real(row, "flops_per_second", rate);
        json_real(row, "of_peak", rate / b->peak);
    }
    if (b->words->json)
        return;
    printf("%-10s %2d heads N %5d d %3d %-6s exp %-8s %10.3f ms", name, a->heads_q, a->rows, a->D,
           a->causal ? "causal" : "", exp, 1e3 * t->seconds);
    if (b->peak > 0)
        printf(" %8.2f TFLOP/s %5.1f %%", 1e-12 * rate, 100 * rate / b->peak);
    puts("");
    fflush(stdout);
}

static bool bench_shape(struct bench *b, int heads, int N, int D, bool causal, struct message *why)
{
    struct timing t = prepare(heads, N, D, causal);
    bool ok = true;
    for (int hw = 0; hw < 2 && ok; hw++)
        for (int k = GPU_FA2_ROWS; k <= GPU_SPLITK && ok; k++) {
            struct message unfit;
            bool slow = k == GPU_FA2_ROWS || k == GPU_FA2_TILES;
            if ((slow && hw) || !gpu_fits((enum gpu_kernel)k, D, false, &unfit) ||
                (b->words->kernel_given && (int)b->words->kernel != k))
                continue;
            t.a.hw = hw;
            ok = time_kernel((enum gpu_kernel)k, &t, slow ? 1 : 5, why);
            if (ok)
                add_row(b, (enum gpu_kernel)k, &t);
        }
    release(&t);
    return ok;
}

static void say_where(const struct bench *b)
{
    if (b->words->json)
        return;
    printf("on %s; medians of five launches, one of fa2-rows and fa2-tiles\n", target_name());
    if (target_is_emulator())
        printf("no GPU was asked: these are times of a CPU that plays one.  On a GPU: TFLOP/s,\n"
               "and the share of what mma.sync does out of registers\nexp hw: %s\n",
               gpu_exp_meaning(true));
    else
        printf("mma.sync m16n8k16 out of registers: %.4g TFLOP/s; %% is the share of that\n",
               1e-12 * b->peak);
}

static bool bench_shapes(struct bench *b, struct message *why)
{
    if (target_is_emulator())
        return bench_shape(b, 4, 128, 64, false, why);
    return bench_shape(b, 16, 8192, 128, false, why) && bench_shape(b, 16, 8192, 128, true, why) &&
           bench_shape(b, 16, 8192, 64, false, why);
}

static bool forward_only(const struct gpu_words *w, struct message *why)
{
    if (w->count > 0)
        return refuse(why, "\"%.40s\": it takes no problem", w->rest[0]);
    return !w->kernel_given || w->kernel <= GPU_SPLITK ||
           refuse(why, "--kernel %s: one of the forward kernels, fa2-rows to splitk, is right",
                  gpu_kernel_info(w->kernel)->name);
}

int verb_bench(int argc, char **argv)
{
    struct gpu_words w;
    struct message why;
    struct scenario none = {.verb = "gpu"};
    struct bench b = {.words = &w};
    if (!gpu_words_read(&w, argc, argv, &why) || !forward_only(&w, &why) ||
        !target_configure(&w.target, &why) ||
        (!target_is_emulator() && !measure_peak(&b.peak, &why)))
        return gpu_refused("bench", &why);
    report_new(&b.report, &none);
    gpu_add_target(b.report.json);
    if (b.peak > 0)
        json_real(b.report.json, "mma_flops_per_second", b.peak);
    b.rows = json_list(b.report.json, "rows");
    say_where(&b);
    bool ok = bench_shapes(&b, &why);
    if (ok && w.json)
        gpu_print_json(&b.report);
    else if (ok && !target_is_emulator())
        puts("no other attention library is linked: no ratio to one");
    report_free(&b.report);
    return ok ? 0 : gpu_refused("bench", &why);
}
