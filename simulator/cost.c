/* cost.c: rates, assumptions, and the time of a launch. */
#include "simulator/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/splits.h"

static const struct assumption_info assumptions[ASSUMPTION_COUNT] = {
#define ASSUMPTION(id, name, unit, value, meaning) {name, unit, value, meaning},
#include "simulator/plan.def"
#undef ASSUMPTION
};

const struct assumption_info *assumption_info(enum assumption a)
{
    return &assumptions[a];
}

static bool assumption_named(const char *name, size_t length, enum assumption *a,
                             struct message *why)
{
    const char *names[ASSUMPTION_COUNT];
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (int n = 0; n < ASSUMPTION_COUNT; n++) {
        names[n] = assumptions[n].name;
        if (strcmp(word, names[n]) == 0) {
            *a = (enum assumption)n;
            return true;
        }
    }
    const char *near = nearest_name(word, names, ASSUMPTION_COUNT);
    if (near != NULL)
        return refuse(why, "--assume %.40s: nothing is so called; did you mean %s?", word, near);
    return refuse(why, "--assume %.40s: nothing is so called; flashulp list assumptions", word);
}

bool assume(double values[ASSUMPTION_COUNT], const char *text, struct message *why)
{
    const double most = 1e9;
    const char *equals = strchr(text, '=');
    enum assumption a = ASSUMPTION_COUNT;
    char *end;
    if (equals == NULL)
        return refuse(why, "--assume %.40s: NAME=VALUE is right, such as exp-per-clock=32", text);
    if (!assumption_named(text, (size_t)(equals - text), &a, why))
        return false;
    double x = strtod(equals + 1, &end);
    bool whole = a == ASSUMPTION_PER_SM || a == ASSUMPTION_REGISTERS;
    bool positive = a == ASSUMPTION_OTHER || a == ASSUMPTION_EXPONENTIALS ||
                    a == ASSUMPTION_SHARED || a == ASSUMPTION_LANES;
    double limit = a == ASSUMPTION_PER_SM ? 64 : a == ASSUMPTION_REREAD ? 1 : most;
    if (end == equals + 1 || *end != 0 || !(x >= 0 && x <= limit) || (positive && x == 0) ||
        (whole && x != floor(x)))
        return refuse(why, "--assume %s: %.40s is no %s %s %.10g", assumptions[a].name, equals + 1,
                      whole ? "whole number" : "number",
                      positive ? "above 0 and up to" : "from 0 to", limit);
    values[a] = x;
    return true;
}

struct rates device_rates(const struct device_record *d, const double assumed[ASSUMPTION_COUNT])
{
    const double tera = 1e12, giga = 1e9, mega = 1e6;
    const double *f = d->figure;
    double sms = f[QUANTITY_SMS];
    struct rates r = {.clock = f[QUANTITY_CLOCK] * mega};
    r.clock_derived = r.clock == 0;
    if (r.clock_derived)
        r.clock = f[QUANTITY_FP32] * tera / (2 * sms * assumed[ASSUMPTION_LANES]);
    r.matmul = f[QUANTITY_BF16] * tera / sms;
    r.other = f[QUANTITY_FP32] * tera / sms / assumed[ASSUMPTION_OTHER];
    r.special = assumed[ASSUMPTION_EXPONENTIALS] * r.clock;
    r.shared = assumed[ASSUMPTION_SHARED] * r.clock;
    r.memory = f[QUANTITY_BANDWIDTH] * giga;
    return r;
}

double least_seconds(const struct work *w, const struct rates *r)
{
    return fmax(fmax(w->matmul / r->matmul, w->other / r->other),
                fmax(w->special / r->special, w->shared / r->shared));
}

double most_seconds(const struct work *w, const struct rates *r)
{
    return w->matmul / r->matmul + w->other / r->other + w->special / r->special +
           w->shared / r->shared;
}

static void add_work(struct work *to, const struct work *w, double times)
{
    to->matmul += times * w->matmul;
    to->other += times * w->other;
    to->special += times * w->special;
    to->shared += times * w->shared;
}

struct plan_request plan_request_default(void)
{
    struct plan_request q = {.kernel = PLAN_KERNEL_FA2};
    q.shape = (struct attention_shape){
        .batch = 1, .heads_q = 1, .heads_kv = 1, .len_q = 1, .len_k = 1, .dim = 128};
    for (int a = 0; a < ASSUMPTION_COUNT; a++)
        q.assume[a] = assumptions[a].value;
    return q;
}

static bool same_tile(struct tiling a, struct tiling b)
{
    return a.Br == b.Br && a.Bc == b.Bc && a.warps == b.warps;
}

/* The tile asked for, or the shipped one; warps 0: four, as most of the shipped ones. */
static bool choose_tile(const struct plan_request *q, const struct device_record *d,
                        struct tiling *t, bool *shipped, struct message *why)
{
    struct tiling its;
    struct message ignored;
    bool ships =
        shipped_tile(q->kernel, d->architecture, &q->shape, &its, q->tile.Br == 0 ? why : &ignored);
    if (q->tile.Br == 0 && !ships)
        return false;
    *t = q->tile.Br == 0 ? its : q->tile;
    if (q->tile.Br != 0 && t->warps == 0)
        t->warps = ships && its.Br == t->Br && its.Bc == t->Bc ? its.warps : 4;
    *shipped = ships && same_tile(*t, its);
    return true;
}

/* How FA2 cuts the keys of a decode launch on this device. */
static bool cut_keys(const struct plan_request *q, const struct device_record *d, int Bc,
                     int64_t *splits, int64_t *tiles, struct message *why)
{
    const struct attention_shape *s = &q->shape;
    struct launch l = {.batch = s->batch,
                       .heads_q = s->heads_q,
                       .heads_kv = s->heads_kv,
                       .len_q = s->len_q,
                       .dim = s->dim,
                       .longest = s->len_k,
                       .shortest = -1,
                       .sms = (int)d->figure[QUANTITY_SMS],
                       .num_splits = (int)q->num_splits};
    struct split_plan p;
    if (!split_plan(SPLIT_RULE_FA2_SPLIT, "", &l, &p, why))
        return false;
    *splits = split_live(&p, s->len_k);
    *tiles = (p.blocks_per_split * p.block_tokens + Bc - 1) / Bc;
    return true;
}

static bool choose_grid(const struct plan_request *q, const struct device_record *d, struct cost *c,
                        struct message *why)
{
    enum { MOST_BLOCKS = 1 << 24 };
    struct tiling t;
    int64_t splits = 1, tiles = 1;
    if (!choose_tile(q, d, &t, &c->shipped, why))
        return false;
    if (q->kernel == PLAN_KERNEL_DECODE && !cut_keys(q, d, t.Bc, &splits, &tiles, why))
        return false;
    c->grid = grid_of(q->kernel, &q->shape, t, splits, tiles);
    if (c->grid.per_head > MOST_BLOCKS / c->grid.heads)
        return refuse(why, "%lld heads of %lld thread blocks are more than the %d that are planned",
                      (long long)c->grid.heads, (long long)c->grid.per_head, MOST_BLOCKS);
    return true;
}

static void sum_work(struct cost *c)
{
    struct cells head = grid_head(&c->grid);
    double heads = (double)c->grid.heads;
    c->cells = (struct cells){head.skipped * c->grid.heads, head.masked * c->grid.heads,
                              head.plain * c->grid.heads};
    c->plain = work_cell(&c->grid, CELL_PLAIN);
    c->masked = work_cell(&c->grid, CELL_MASKED);
    c->block = work_block(&c->grid);
    add_work(&c->total, &c->plain, heads * (double)head.plain);
    add_work(&c->total, &c->masked, heads * (double)head.masked);
    add_work(&c->total, &c->block, (double)c->grid.blocks);
    c->traffic = grid_traffic(&c->grid);
    c->useful = useful_flops(&c->grid);
}

static double not_negative(double x)
{
    return x > 0 ? x : 0;
}

typedef double seconds_of(const struct work *w, const struct rates *r);

static void run_one(struct cost *c, int sms, seconds_of *seconds, struct schedule *s)
{
    struct machine m = {sms, c->per_sm, 1, 1, 0};
    if (c->timed) {
        m.plain = seconds(&c->plain, &c->rates);
        m.masked = seconds(&c->masked, &c->rates);
        m.block = not_negative(seconds(&c->block, &c->rates));
    }
    schedule_run(&c->grid, &m, NULL, NULL, s);
}

static void run_launch(const struct plan_request *q, const struct device_record *d, struct cost *c)
{
    int sms = (int)d->figure[QUANTITY_SMS];
    double microsecond = 1e-6, launch = q->assume[ASSUMPTION_LAUNCH] * microsecond;
    double bytes = c->traffic.once + q->assume[ASSUMPTION_REREAD] * c->traffic.again;
    run_one(c, sms, least_seconds, &c->least);
    run_one(c, sms, most_seconds, &c->most);
    if (!c->timed)
        return;
    double memory = bytes / c->rates.memory, peak = c->rates.matmul * sms;
    c->seconds_least = fmax(c->least.span, memory) + launch * c->launches;
    c->seconds_most = c->most.span + memory + launch * c->launches;
    c->share_most = c->useful / c->seconds_least / peak;
    c->share_least = c->useful / c->seconds_most / peak;
}

bool plan_cost(const struct plan_request *q, const struct device_record *d, struct cost *c,
               struct message *why)
{
    int asked = (int)q->assume[ASSUMPTION_PER_SM];
    *c = (struct cost){.launches = 1};
    if (!choose_grid(q, d, c, why))
        return false;
    if (q->kernel == PLAN_KERNEL_BACKWARD)
        c->launches = 3; /* D, the main kernel, dQ to 16 bits */
    if (q->kernel == PLAN_KERNEL_DECODE && c->grid.splits > 1)
        c->launches = 2; /* the groups, their combination */
    c->occupancy = occupancy(d->architecture, q->kernel, c->grid.tile, q->shape.dim,
                             (int)fmin(q->assume[ASSUMPTION_REGISTERS], REGISTERS_PER_THREAD));
    c->per_sm = c->occupancy.per_sm > 0 && asked > 0 ? asked : c->occupancy.per_sm;
    c->rates = device_rates(d, q->assume);
    c->timed = c->rates.matmul > 0 && c->rates.other > 0 && c->rates.memory > 0;
    sum_work(c);
    if (c->per_sm > 0)
        run_launch(q, d, c);
    return true;
}

double training_flops(double parameters, double layers, double hidden, double N, double factor)
{
    return 6 * parameters + factor * layers * hidden * N;
}
