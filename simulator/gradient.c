/* gradient.c: threads over groups of query heads; see gradient.h. */
#include "simulator/gradient.h"

#include <stdlib.h>
#include <string.h>

#include "simulator/algorithms/backward.h"
#include "simulator/simulate_parts.h"

struct job {
    const struct problem *problem;
    const struct tensor *dO;
    const struct simulation *simulation;
    struct gradients *gradients;
    int64_t *row_of_unit; /* in forward */
    int64_t first_group;
};

/* After splitk and splitq the warps share the backward tiles in the same way. */
static algorithm_body *backward_body(const struct simulation *s)
{
    if (s->is_kernel)
        return kernel_info(s->kernel.kernel)->body;
    return s->algorithm == ALGORITHM_SPLITK   ? backward_by_keys
           : s->algorithm == ALGORITHM_SPLITQ ? backward_by_rows
                                              : backward;
}

void simulate_backward(struct run *r, const struct simulation *s, struct attention *x,
                       const struct tensor *dO)
{
    x->dO = dO;
    x->choices = backward_choices(s, x->head);
    backward_body(s)(r, x);
}

static void sum_heads(struct run *r, struct tile **head, int heads)
{
    for (int n = 0; n < heads && heads > 1; n++)
        round_at(r, head[n], SITE_HEAD_GRADIENT);
    for (int n = 1; n < heads; n++)
        add(r, head[0], head[0], head[n], SITE_GROUP_SUM);
    if (heads > 1)
        note(r, STEP_GROUP_SUM, head[0]);
    round_at(r, head[0], SITE_GRADIENT);                                note(r, STEP_GROUP_STORE, head[0]);
}

void sum_group(struct run *r, struct attention *x, int heads)
{
    struct tile **tile = malloc((size_t)heads * sizeof *tile);
    if (tile == NULL)
        abort();
    for (int n = 0; n < heads; n++)
        tile[n] = x[n].dK;
    sum_heads(r, tile, heads);
    for (int n = 0; n < heads; n++)
        tile[n] = x[n].dV;
    sum_heads(r, tile, heads);
    free(tile);
}

static void keep(const struct run *r, const struct tile *t, double *to)
{
    for (int64_t i = 0; i < (int64_t)t->rows * t->cols; i++)
        to[i] = r->arith->get(t->data, (size_t)i);
}

static void keep_head(const struct job *job, const struct run *r, const struct attention *x,
                      int64_t unit)
{
    const struct head *h = x->head;
    const struct problem *p = h->problem;
    struct gradients *g = job->gradients;
    int64_t at = (h->batch * p->Hq + h->head) * p->Nq + h->q0;
    keep(r, x->O, g->forward.O + job->row_of_unit[unit] * p->D);
    keep(r, x->L, g->forward.lse + job->row_of_unit[unit]);
    keep(r, x->dQ, g->dQ + at * p->D);
    keep(r, x->dS_sum, g->dS_sum + at);
}

static bool chosen(const struct simulation *s, int64_t unit)
{
    return s->unit_count == 0 || (unit >= s->unit_first && unit < s->unit_first + s->unit_count);
}

/* Of the group's heads those chosen are traced, and its sums. */
static void run_group(struct run *r, void *with, int64_t n_th)
{
    const struct job *job = with;
    const struct problem *p = job->problem;
    struct trace *trace = r->trace;
    int64_t group = job->first_group + n_th;
    int G = (int)(p->Hq / p->Hkv);
    struct attention *x = calloc((size_t)G, sizeof *x);
    struct head *h = calloc((size_t)G, sizeof *h);
    if (x == NULL || h == NULL)
        abort();
    for (int n = 0; n < G; n++) {
        h[n] = problem_head(p, group * G + n);
        r->trace = chosen(job->simulation, group * G + n) ? trace : NULL;
        x[n] = simulate_head(r, job->simulation, &h[n]);
        simulate_backward(r, job->simulation, &x[n], job->dO);
        keep_head(job, r, &x[n], group * G + n);
    }
    r->trace = trace;
    sum_group(r, x, G);
    int64_t at = ((h->batch * p->Hkv + h->kv_head) * p->Nk + h->k0) * p->D;
    keep(r, x->dK, job->gradients->dK + at);
    keep(r, x->dV, job->gradients->dV + at);
    free(x);
    free(h);
}

static double *numbers(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return calloc((size_t)(a * b * c * d) + 1, sizeof(double));
}

static bool gradients_room(struct job *job, struct message *why)
{
    const struct problem *p = job->problem;
    struct gradients *g = job->gradients;
    int64_t units = problem_units(p);
    memset(g, 0, sizeof *g);
    g->forward.units = units;
    g->forward.D = p->D;
    job->row_of_unit = calloc((size_t)units + 1, sizeof *job->row_of_unit);
    for (int64_t n = 0; n < units && job->row_of_unit != NULL; n++) {
        job->row_of_unit[n] = g->forward.rows;
        g->forward.rows += problem_head(p, n).Nq;
    }
    g->forward.O = numbers(1, 1, g->forward.rows, p->D);
    g->forward.lse = numbers(1, 1, g->forward.rows, 1);
    g->dQ = numbers(p->B, p->Hq, p->Nq, p->D);
    g->dK = numbers(p->B, p->Hkv, p->Nk, p->D);
    g->dV = numbers(p->B, p->Hkv, p->Nk, p->D);
    g->dS_sum = numbers(p->B, p->Hq, p->Nq, 1);
    if (job->row_of_unit != NULL && g->forward.O != NULL && g->forward.lse != NULL &&
        g->dQ != NULL && g->dK != NULL && g->dV != NULL && g->dS_sum != NULL)
        return true;
    gradients_free(g);
    free(job->row_of_unit);
    return refuse(why, "no memory for the gradients");
}

static bool backward_fits(const struct problem *p, const struct simulation *s, struct message *why)
{
    struct head h = problem_head(p, 0);
    struct choices c = backward_choices(s, &h);
    const struct {
        enum site site;
        int terms;
        const char *has;
    } sums[] = {
        {SITE_DELTA, (int)p->D, "the head size is"}, {SITE_DP_ACC, (int)p->D, "the head size is"},
        {SITE_DQ_ACC, c.Bc, "a key tile"},           {SITE_DK_ACC, c.Br, "a query tile"},
        {SITE_DV_ACC, c.Br, "a query tile"},
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (!order_fits(sums[i].site, &s->policy.site[sums[i].site].order, sums[i].terms,
                        sums[i].has, "", why))
            return false;
    return warps_sum_so(s, SITE_DQ_ACC, why);
}

static uint64_t digest_gradients(const struct problem *p, enum format f, const struct gradients *g)
{
    int64_t queries = p->B * p->Hq * p->Nq * p->D, keys = p->B * p->Hkv * p->Nk * p->D;
    uint64_t digest = digest_numbers(DIGEST_START, f, g->dQ, queries);
    digest = digest_numbers(digest, f, g->dK, keys);
    return digest_numbers(digest, f, g->dV, keys);
}

bool simulate_gradients(const struct problem *p, const struct tensor *dO,
                        const struct simulation *s, struct gradients *g, struct message *why)
{
    struct run r;
    struct job job = {.problem = p, .dO = dO, .simulation = s, .gradients = g};
    int64_t G = p->Hq / p->Hkv, groups = problem_units(p) / G;
    if (s->unit_count > 0) {
        job.first_group = s->unit_first / G;
        groups = (s->unit_first + s->unit_count - 1) / G - job.first_group + 1;
    }
    if (!run_new(&r, s->arith, &s->policy, s->precision, why))
        return false;
    run_free(&r);
    if (!forward_fits(p, s, why) || (problem_units(p) > 0 && !backward_fits(p, s, why)) ||
        !gradients_room(&job, why))
        return false;
    share_items(p, s, run_group, &job, groups);
    g->digest = digest_gradients(p, s->policy.site[SITE_GRADIENT].format, g);
    free(job.row_of_unit);
    return true;
}

void gradients_free(struct gradients *g)
{
    result_free(&g->forward);
    free(g->dQ);
    free(g->dK);
    free(g->dV);
    free(g->dS_sum);
    g->dQ = g->dK = g->dV = g->dS_sum = NULL;
}
