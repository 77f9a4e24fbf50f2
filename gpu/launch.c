/* launch.c: a problem taken to the device, a kernel run on it, its outputs fetched; and the
   pair's. */
#include "gpu/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/emulator/device.h"
#include "simulator/gradient.h"
#include "simulator/simulate_parts.h"

/* One array on the host and its twin on the device. */
struct array {
    void *host, *device;
    size_t bytes;
};

struct arrays {
    struct array q, k, v, dO, o, lse, dq, dk, dv, part_o, part_m, part_l;
};
enum { ARRAYS = sizeof(struct arrays) / sizeof(struct array) };

static bool array_new(struct array *a, int64_t elements, size_t each, struct message *why)
{
    a->bytes = (size_t)elements * each;
    a->host = calloc((size_t)elements + 1, each);
    a->device = a->host != NULL ? dev_alloc(a->bytes) : NULL;
    return a->device != NULL || refuse(why, "no memory for %lld numbers", (long long)elements);
}

static void arrays_free(struct arrays *x)
{
    struct array *all = (struct array *)x;
    for (int i = 0; i < ARRAYS; i++) {
        free(all[i].host);
        if (all[i].device != NULL)
            dev_free(all[i].device);
    }
}

/* The tensor's numbers, which are f's, as contiguous words on the device. */
static bool send(struct array *a, const struct tensor *t, enum format f, struct message *why)
{
    int64_t D = t->shape[3], rows = tensor_elements(t) / (D > 0 ? D : 1);
    double *row = malloc((size_t)(D + 1) * sizeof *row);
    if (row == NULL || !array_new(a, tensor_elements(t), sizeof(uint16_t), why)) {
        free(row);
        return refuse(why, "no memory for %lld numbers", (long long)tensor_elements(t));
    }
    for (int64_t n = 0; n < rows; n++) {
        int64_t head = n / t->shape[2];
        tensor_row(t, head / t->shape[1], head % t->shape[1], n % t->shape[2], D, row);
        for (int64_t d = 0; d < D; d++)
            ((uint16_t *)a->host)[n * D + d] = (uint16_t)format_encode(f, row[d]);
    }
    free(row);
    dev_copy_in(a->device, a->host, a->bytes);
    return true;
}

static enum gpu_merge merge_of(enum merge m)
{
    return m == MERGE_MAX_SUM              ? GPU_MERGE_MAX_SUM
           : m == MERGE_NORMALISED_MAX_SUM ? GPU_MERGE_NORMALISED
           : m == MERGE_RUNNING            ? GPU_MERGE_RUNNING
                                           : GPU_MERGE_LSE;
}

/* Everything the kernel reads and writes. */
static bool prepare(const struct gpu_pair *p, struct arrays *x, struct attention_args *a,
                    struct message *why)
{
    const struct problem *problem = &p->input.problem;
    enum format f = p->input.input_format;
    int64_t rows = problem->B * problem->Hq * problem->Nq;
    double scale = problem->scale.value;
    bool backward = gpu_kernel_info(p->kernel)->flags & GPU_BACKWARD;
    struct real real = {scale, problem->scale.root, REAL_PLAIN};
    bool ok = send(&x->q, &problem->q, f, why) && send(&x->k, &problem->k, f, why) &&
              send(&x->v, &problem->v, f, why) &&
              array_new(&x->o, rows * problem->D, sizeof(uint16_t), why) &&
              array_new(&x->lse, rows, sizeof(float), why);
    if (ok && backward)
        ok = send(&x->dO, &p->dO, f, why) &&
             array_new(&x->dq, rows * problem->D, sizeof(uint16_t), why) &&
             array_new(&x->dk, tensor_elements(&problem->k), sizeof(uint16_t), why) &&
             array_new(&x->dv, tensor_elements(&problem->v), sizeof(uint16_t), why);
    *a = (struct attention_args){.q = x->q.device,
                                 .k = x->k.device,
                                 .v = x->v.device,
                                 .o = x->o.device,
                                 .lse = x->lse.device,
                                 .batch = (int)problem->B,
                                 .heads_q = (int)problem->Hq,
                                 .heads_kv = (int)problem->Hkv,
                                 .rows = (int)problem->Nq,
                                 .keys = (int)problem->Nk,
                                 .D = (int)problem->D,
                                 .scale = (float)real_value(&real, true),
                                 .causal = problem->mask.causal,
                                 .half = f == FORMAT_FP16};
    return ok;
}

static bool run_decode(const struct gpu_pair *p, const struct kernel_entries *kernels,
                       struct arrays *x, struct attention_args a, struct message *why)
{
    struct head h = problem_head(&p->input.problem, 0);
    struct choices c = simulation_choices(&p->simulation, &h);
    int64_t records = (int64_t)a.batch * a.heads_q * c.grouping.splits;
    bool narrow = p->simulation.policy.site[SITE_PARTIAL_OUT].format != FORMAT_FP32;
    if (!array_new(&x->part_o, records * a.D, narrow ? sizeof(uint16_t) : sizeof(float), why) ||
        !array_new(&x->part_m, records, sizeof(float), why) ||
        !array_new(&x->part_l, records, sizeof(float), why))
        return false;
    struct decode_args d = {.a = a,
                            .merge = merge_of(c.merge),
                            .splits = c.grouping.splits,
                            .round_robin = c.grouping.round_robin,
                            .sum_rounded = c.sum_rounded,
                            .narrow = narrow,
                            .part_o = x->part_o.device,
                            .part_m = x->part_m.device,
                            .part_l = x->part_l.device};
    if (!c.grouping.round_robin) /* groups of as many tiles, perhaps fewer at the end */
        d.tiles_each = c.grouping.tiles;
    kernels->decode(d);
    kernels->combine(d);
    return true;
}

static void run_backward(const struct gpu_pair *p, const struct kernel_entries *kernels,
                         const struct arrays *x, struct attention_args a)
{
    bool atomic = gpu_kernel_info(p->kernel)->flags & GPU_ATOMIC;
    struct backward_args b = {.a = a,
                              .d_o = x->dO.device,
                              .dq = x->dq.device,
                              .dk = x->dk.device,
                              .dv = x->dv.device,
                              .copies = atomic ? 0 : p->simulation.choices.dq_copies};
    kernels->forward[GPU_FA2](a);
    kernels->backward(b);
}

/* NaN as the digests have it. */
static uint16_t canonical(enum format f, uint16_t word)
{
    return (uint16_t)format_encode(f, format_decode(f, word));
}

static uint16_t *fetch_words(struct array *a, enum format f)
{
    int64_t count = (int64_t)(a->bytes / sizeof(uint16_t));
    uint16_t *words = malloc((size_t)(count + 1) * sizeof *words);
    if (words == NULL)
        abort();
    dev_copy_out(words, a->device, a->bytes);
    for (int64_t i = 0; i < count; i++)
        words[i] = canonical(f, words[i]);
    return words;
}

static void fetch(const struct gpu_pair *p, struct arrays *x, struct gpu_output *o)
{
    enum format f = p->input.input_format;
    o->O = fetch_words(&x->o, f);
    o->lse = malloc(x->lse.bytes + sizeof *o->lse);
    if (o->lse == NULL)
        abort();
    dev_copy_out(o->lse, x->lse.device, x->lse.bytes);
    for (int64_t i = 0; i < o->rows; i++)
        o->lse[i] = (o->lse[i] & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : o->lse[i];
    if (x->dq.device == NULL)
        return;
    o->dQ = fetch_words(&x->dq, f);
    o->dK = fetch_words(&x->dk, f);
    o->dV = fetch_words(&x->dv, f);
}

static void sizes(const struct gpu_pair *p, struct gpu_output *o)
{
    const struct problem *problem = &p->input.problem;
    memset(o, 0, sizeof *o);
    o->rows = problem->B * problem->Hq * problem->Nq;
    o->elements = o->rows * problem->D;
    o->keys = problem->B * problem->Hkv * problem->Nk * problem->D;
}

/* The emulator's and the simulator's time is a processor's; a GPU's goes by the wall clock. */
static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(target_is_emulator() ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool gpu_run_kernel(const struct gpu_pair *p, const struct target_settings *t, struct gpu_output *o,
                    struct message *why)
{
    struct arrays x;
    struct attention_args a;
    unsigned flags = gpu_kernel_info(p->kernel)->flags;
    const struct kernel_entries *kernels = target_kernels(t->schedule == SCHEDULE_DETECTOR);
    memset(&x, 0, sizeof x);
    sizes(p, o);
    bool ok = prepare(p, &x, &a, why) && target_configure(t, why);
    a.hw = t->hw;
    double start = seconds_now();
    if (ok && flags & GPU_DECODES)
        ok = run_decode(p, kernels, &x, a, why);
    else if (ok && flags & GPU_BACKWARD)
        run_backward(p, kernels, &x, a);
    else if (ok)
        kernels->forward[p->kernel](a);
    ok = ok && target_finish(why);
    o->seconds = seconds_now() - start;
    if (ok)
        fetch(p, &x, o);
    arrays_free(&x);
    return ok;
}

static uint16_t *encode(enum format f, const double *x, int64_t n)
{
    uint16_t *words = malloc((size_t)(n + 1) * sizeof *words);
    if (words == NULL)
        abort();
    for (int64_t i = 0; i < n; i++)
        words[i] = (uint16_t)format_encode(f, x[i]);
    return words;
}

static void keep_forward(const struct gpu_pair *p, const struct result *r, struct gpu_output *o)
{
    o->O = encode(p->input.input_format, r->O, o->elements);
    o->lse = malloc((size_t)(o->rows + 1) * sizeof *o->lse);
    if (o->lse == NULL)
        abort();
    for (int64_t i = 0; i < o->rows; i++)
        o->lse[i] = (uint32_t)format_encode(FORMAT_FP32, r->lse[i]);
}

/* Of every unit the key tiles in the order in which the kernel's blocks (key tile, head, batch)
   run; malloc'ed.  NULL where that is ascending, or not known. */
static int *arrivals(const struct gpu_pair *p, const struct target_settings *t,
                     struct message *why)
{
    const struct problem *x = &p->input.problem;
    uint64_t tiles = (uint64_t)((x->Nk + KEY_TILE(x->D) - 1) / KEY_TILE(x->D));
    uint64_t units = (uint64_t)(x->B * x->Hq), blocks = tiles * units;
    uint64_t *number = malloc((blocks + 1) * sizeof *number);
    int *order = malloc((blocks + 1) * sizeof *order), *met = calloc(units + 1, sizeof *met);
    if (number == NULL || order == NULL || met == NULL)
        abort();
    bool known = tiles > 1 && target_configure(t, why) && target_block_order(blocks, number);
    bool ascending = true;
    for (uint64_t n = 0; known && n < blocks; n++) {
        uint64_t unit = number[n] / tiles, tile = number[n] % tiles;
        ascending = ascending && tile == (uint64_t)met[unit];
        order[unit * tiles + (uint64_t)met[unit]++] = (int)tile;
    }
    free(number);
    free(met);
    if (known && !ascending)
        return order;
    free(order);
    return NULL;
}

bool gpu_run_pair(const struct gpu_pair *p, const struct target_settings *t, struct gpu_output *o,
                  struct message *why)
{
    struct gradients g;
    struct result r;
    struct simulation s = p->simulation;
    double start = seconds_now();
    sizes(p, o);
    int *order = gpu_kernel_info(p->kernel)->flags & GPU_ATOMIC ? arrivals(p, t, why) : NULL;
    s.choices.dq_drawn = order != NULL;
    s.choices.dq_given = order;
    if (!(gpu_kernel_info(p->kernel)->flags & GPU_BACKWARD)) {
        if (!simulate(&p->input.problem, &p->simulation, &r, why))
            return false;
        o->seconds = seconds_now() - start;
        keep_forward(p, &r, o);
        result_free(&r);
        return true;
    }
    bool ok = simulate_gradients(&p->input.problem, &p->dO, &s, &g, why);
    free(order);
    if (!ok)
        return false;
    o->seconds = seconds_now() - start;
    keep_forward(p, &g.forward, o);
    o->dQ = encode(p->input.input_format, g.dQ, o->elements);
    o->dK = encode(p->input.input_format, g.dK, o->keys);
    o->dV = encode(p->input.input_format, g.dV, o->keys);
    gradients_free(&g);
    return true;
}

void gpu_output_free(struct gpu_output *o)
{
    free(o->O);
    free(o->lse);
    free(o->dQ);
    free(o->dK);
    free(o->dV);
    memset(o, 0, sizeof *o);
}
