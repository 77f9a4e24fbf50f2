/* simulate.c: a run per head, threads over heads, results and their digest. */
#include "simulator/simulate.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/alter.h"
#include "simulator/simulate_parts.h"
#include "simulator/trace.h"

static int at_least_one(int64_t n)
{
    return n < 1 ? 1 : (int)n;
}

/* The grouping in force; c is otherwise complete. */
static struct grouping group_keys(const struct choices *c, const struct head *h)
{
    struct attention x = {.head = h, .choices = *c};
    struct grouping g = c->grouping;
    int tiles = key_tiles(&x);
    assert(g.tokens % c->Bc == 0 && !(g.tokens > 0 && (g.splits > 0 || g.round_robin)));
    if (g.splits > 0)
        g.tiles = at_least_one((tiles + g.splits - 1) / g.splits);
    else
        g.tiles = at_least_one(g.tokens / c->Bc);
    if (g.splits == 0)
        g.splits = at_least_one((tiles + g.tiles - 1) / g.tiles);
    return g;
}

/* A kernel's tiles are its own. */
static struct choices kernel_choices(const struct kernel_choice *kernel, const struct head *h)
{
    struct choices c = {.kernel = kernel};
    kernel_info(kernel->kernel)->tiles(kernel, h->problem, &c.Br, &c.Bc);
    return c;
}

static const struct kernel_choice *forward_kernel(const struct simulation *s)
{
    return kernel_info(s->kernel.kernel)->flags & BACKWARD ? &s->forward : &s->kernel;
}

struct choices backward_choices(const struct simulation *s, const struct head *h)
{
    struct choices c = s->is_kernel ? kernel_choices(&s->kernel, h) : simulation_choices(s, h);
    c.dq_copies = s->choices.dq_copies;
    c.dq_drawn = s->choices.dq_drawn;
    c.dq_seed = s->choices.dq_seed;
    c.dq_given = s->choices.dq_given;
    return c;
}

/* The user's tiles count unless --tile says otherwise: then Bc is the widest of them. */
struct choices simulation_choices(const struct simulation *s, const struct head *h)
{
    if (s->is_kernel)
        return kernel_choices(forward_kernel(s), h);
    const struct algorithm_info *a = algorithm_info(s->algorithm);
    const struct problem *p = h->problem;
    struct choices c = s->choices;
    for (int j = 0; j < p->tiles; j++) {
        int64_t width = p->tile_ends[j] - (j == 0 ? 0 : p->tile_ends[j - 1]);
        c.widest = width > c.widest ? (int)width : c.widest;
    }
    bool whole = a->Bc == 0; /* standard attention: one tile of everything */
    if (whole)
        c.Br = c.Bc = 0;
    else if (c.Bc == 0 && s->algorithm != ALGORITHM_ONLINE)
        c.Bc = c.widest;
    int rows = at_least_one(h->Nq); /* a default tile is no taller than the head */
    c.Br = c.Br ? c.Br : a->Br && a->Br < rows ? a->Br : rows;
    c.Bc = c.Bc ? c.Bc : a->Bc ? a->Bc : at_least_one(h->Nk);
    c.widest = whole || s->algorithm == ALGORITHM_ONLINE || s->choices.Bc ? 0 : c.widest;
    if (s->algorithm == ALGORITHM_DECODE) {
        c.Br = 1; /* a row has records of its own */
        c.grouping = group_keys(&c, h);
    }
    return c;
}

struct attention simulate_head(struct run *r, const struct simulation *s, const struct head *h)
{
    struct attention x = {.head = h, .choices = simulation_choices(s, h)};
    r->where = (struct where){.batch = (uint32_t)h->sequence, .head = (uint32_t)h->head};
    x.O = tile_new(r, TENSOR_O, (int)h->Nq, (int)h->D);
    x.L = tile_new(r, TENSOR_LSE, (int)h->Nq, 1);
    if (s->is_kernel)
        kernel_info(forward_kernel(s)->kernel)->body(r, &x);
    else
        algorithm_info(s->algorithm)->body(r, &x);
    return x;
}

struct kernel_name simulation_name(const struct simulation *s)
{
    struct kernel_name n;
    if (s->is_kernel)
        return kernel_name(&s->kernel);
    snprintf(n.text, sizeof n.text, "%s", algorithm_info(s->algorithm)->name);
    return n;
}

struct simulation simulation_default(void)
{
    struct simulation s;
    memset(&s, 0, sizeof s);
    s.algorithm = ALGORITHM_FA2;
    s.policy = policy_table(POLICY_FP32);
    s.arith = arith_float();
    s.precision = 256;
    s.threads = 1;
    return s;
}

struct work {
    const struct problem *problem;
    const struct simulation *simulation;
    struct result *result;
    int64_t first, count;
    int64_t *row_of_unit; /* where each unit's rows begin in the result */
};

static void keep_outputs(const struct run *r, const struct attention *x, double *O, double *lse)
{
    for (int64_t n = 0; n < x->head->Nq; n++) {
        for (int64_t d = 0; d < x->head->D; d++)
            O[n * x->head->D + d] = tile_get(r, x->O, (int)n, (int)d);
        lse[n] = tile_get(r, x->L, (int)n, 0);
    }
}

static void run_unit(struct run *r, void *with, int64_t n)
{
    const struct work *w = with;
    struct head h = problem_head(w->problem, w->first + n);
    struct attention x = simulate_head(r, w->simulation, &h);
    keep_outputs(r, &x, w->result->O + w->row_of_unit[n] * h.D, w->result->lse + w->row_of_unit[n]);
}

static bool result_new(struct work *w, struct message *why)
{
    struct result *result = w->result;
    memset(result, 0, sizeof *result);
    result->units = w->count;
    result->D = w->problem->D;
    w->row_of_unit = calloc((size_t)w->count + 1, sizeof *w->row_of_unit);
    for (int64_t n = 0; n < w->count && w->row_of_unit != NULL; n++) {
        w->row_of_unit[n] = result->rows;
        result->rows += problem_head(w->problem, w->first + n).Nq;
    }
    result->O = calloc((size_t)result->rows + 1, sizeof(double) * (size_t)result->D);
    result->lse = calloc((size_t)result->rows + 1, sizeof(double));
    if (w->row_of_unit == NULL || result->O == NULL || result->lse == NULL) {
        result_free(result);
        free(w->row_of_unit);
        return refuse(why, "no memory for %lld output rows", (long long)result->rows);
    }
    return true;
}

bool order_fits(enum site site, const struct order *o, int terms, const char *has,
                const char *hint, struct message *why)
{
    if (o->kind == ORDER_TREE && o->tree->terms != terms)
        return refuse(why, "--order %s: the tree has %d terms, %s %d%s", site_name(site),
                      o->tree->terms, has, terms, hint);
    if (o->kind == ORDER_LANES && o->lanes->table && o->lanes->period > terms)
        return refuse(why, "--order %s: the table of owners has %d columns, %s %d%s",
                      site_name(site), o->lanes->period, has, terms, hint);
    return true;
}

bool warps_sum_so(const struct simulation *s, enum site site, struct message *why)
{
    bool by_warp = !s->is_kernel && s->algorithm == ALGORITHM_SPLITK;
    return !by_warp || s->policy.site[site].order.kind != ORDER_TREE ||
           refuse(why, "%s: splitk sums the keys of each warp by themselves; a tree does not go "
                       "with it", site_name(site));
}

/* How many terms the order is made for; 0: any number. */
static int order_terms(const struct order *o)
{
    return o->kind == ORDER_TREE                         ? o->tree->terms
           : o->kind == ORDER_LANES && o->lanes->table ? o->lanes->period
                                                       : 0;
}

static bool group_orders_fit(const struct simulation *s, const struct choices *c,
                             struct message *why)
{
    static const enum site by_groups[] = {SITE_COMBINE_SUM, SITE_COMBINE_ACC};
    for (size_t i = 0; i < 2 && s->algorithm == ALGORITHM_DECODE; i++) {
        const struct order *o = &s->policy.site[by_groups[i]].order;
        char hint[64];
        snprintf(hint, sizeof hint, " groups: use --splits %d", order_terms(o));
        if (!order_fits(by_groups[i], o, c->grouping.splits, "there are", hint, why))
            return false;
    }
    return true;
}

static bool orders_fit(const struct problem *p, const struct simulation *s, struct message *why)
{
    static const enum site by_keys[] = {SITE_ROW_SUM, SITE_OUT_ACC};
    struct head h = problem_head(p, 0);
    struct choices c = simulation_choices(s, &h);
    const struct order *score = &s->policy.site[SITE_SCORE_ACC].order;
    if (!order_fits(SITE_SCORE_ACC, score, (int)p->D, "the head size is", "", why))
        return false;
    for (size_t i = 0; i < sizeof by_keys / sizeof *by_keys; i++) {
        const struct order *o = &s->policy.site[by_keys[i]].order;
        char hint[64];
        if (!warps_sum_so(s, by_keys[i], why))
            return false;
        snprintf(hint, sizeof hint, ": use --tile %d,%d", c.Br, order_terms(o));
        if (!order_fits(by_keys[i], o, c.Bc, "a key tile", hint, why))
            return false;
    }
    return group_orders_fit(s, &c, why);
}

/* The digest runs through O in b, h, n, d order.  Packed sequences are units of their own, sequence
   outer, head inner: their rows are put head by head first. */
static bool result_digest(const struct problem *p, const struct simulation *s,
                          struct result *result, struct message *why)
{
    enum format f = s->policy.site[SITE_OUT].format;
    int64_t D = result->D, rows = result->rows, from = 0;
    bool whole = p->cu_q != NULL && result->units == problem_units(p);
    if (!whole) {
        result->digest = digest_outputs(f, result->O, rows * D, result->lse, rows);
        return true;
    }
    double *O = malloc((size_t)(rows * D + rows + 1) * sizeof *O), *lse = O + rows * D;
    if (O == NULL)
        return refuse(why, "no memory for %lld output rows", (long long)rows);
    for (int64_t n = 0; n < result->units; n++) {
        struct head h = problem_head(p, n);
        int64_t to = h.head * p->Nq + h.q0;
        memcpy(O + to * D, result->O + from * D, (size_t)(h.Nq * D) * sizeof *O);
        memcpy(lse + to, result->lse + from, (size_t)h.Nq * sizeof *lse);
        from += h.Nq;
    }
    result->digest = digest_outputs(f, O, rows * D, lse, rows);
    free(O);
    return true;
}

bool faults_meet_mask(const struct problem *p, unsigned faults)
{
    bool masked = p->mask.causal || p->mask.left >= 0 || p->mask.right >= 0;
    return faults >> FAULT_NO_TAIL_MASK & 1 && masked;
}

static bool faults_fit(const struct problem *p, const struct simulation *s, struct message *why)
{
    if (faults_meet_mask(p, s->choices.faults))
        return refuse(why, "fault no-tail-mask does not go with a causal or window mask: the printed "
                           "kernel has none; name the other faults (--fault tile-max,zero-start)");
    return true;
}

bool forward_fits(const struct problem *p, const struct simulation *s, struct message *why)
{
    return faults_fit(p, s, why) && (problem_units(p) == 0 || orders_fit(p, s, why));
}

/* The chosen units of p, which is what the simulation sees. */
static bool run_problem(const struct problem *p, const struct simulation *s, struct result *result,
                        struct message *why)
{
    struct work w = {.problem = p, .simulation = s, .result = result};
    int64_t units = problem_units(p);
    w.first = s->unit_count ? s->unit_first : 0;
    w.count = s->unit_count ? s->unit_count : units;
    assert(w.first >= 0 && w.first + w.count <= units);
    if (!forward_fits(p, s, why) || !result_new(&w, why))
        return false;
    share_items(p, s, run_unit, &w, w.count);
    free(w.row_of_unit);
    return true;
}

/* A grouped kernel's units are the groups: its rows are the heads of p, in p's order. */
static bool run_grouped(const struct problem *p, const struct simulation *s, struct result *result,
                        struct message *why)
{
    struct problem grouped;
    struct simulation groups = *s;
    int64_t G = p->Hq / p->Hkv;
    if (s->unit_count > 0) {
        groups.unit_first = s->unit_first / G;
        groups.unit_count = (s->unit_first + s->unit_count - 1) / G - groups.unit_first + 1;
    }
    if (!kernel_group(p, &grouped, why))
        return false;
    bool ok = run_problem(&grouped, &groups, result, why);
    if (ok)
        result->units *= G;
    problem_free(&grouped);
    return ok;
}

bool simulate_rows(const struct problem *p, const struct simulation *s, struct result *result,
                   struct message *why)
{
    bool grouped = s->is_kernel && kernel_info(s->kernel.kernel)->flags & GROUPED;
    return grouped ? run_grouped(p, s, result, why) : run_problem(p, s, result, why);
}

bool simulate(const struct problem *p, const struct simulation *s, struct result *result,
              struct message *why)
{
    struct run r;
    if (!run_new(&r, s->arith, &s->policy, s->precision, why))
        return false;
    run_free(&r);
    return (s->alterations != 0 ? simulate_altered : simulate_rows)(p, s, result, why) &&
           result_digest(p, s, result, why);
}

void result_free(struct result *result)
{
    free(result->O);
    free(result->lse);
    result->O = result->lse = NULL;
}

/* FNV-1a, 64 bits. */
static uint64_t digest_bytes(uint64_t digest, uint64_t word, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        digest ^= word >> (8 * i) & 0xFF;
        digest *= UINT64_C(0x100000001B3);
    }
    return digest;
}

uint64_t digest_numbers(uint64_t digest, enum format f, const double *x, int64_t n)
{
    enum format stored = f == FORMAT_EXACT ? FORMAT_FP64 : f;
    for (int64_t i = 0; i < n; i++)
        digest = digest_bytes(digest, format_encode(stored, x[i]), format_info(stored)->bits / 8);
    return digest;
}

uint64_t digest_outputs(enum format f, const double *O, int64_t n, const double *lse, int64_t rows)
{
    uint64_t digest = digest_numbers(DIGEST_START, f, O, n);
    for (int64_t i = 0; i < rows; i++)
        digest = digest_bytes(digest, format_encode(FORMAT_FP32, format_round(FORMAT_FP32, lse[i], false)), 4);
    return digest;
}
