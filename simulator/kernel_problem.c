/* kernel_problem.c: what a kernel takes, what it does elsewhere than the contracts say, and the
   problem a decode kernel sees: the query heads of a group as the rows of one head. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/kernels.h"
#include "simulator/scenario_parts.h"

static bool head_size_taken(const char *sizes, int64_t D)
{
    while (*sizes != 0) {
        char *end;
        if (strtol(sizes, &end, 10) == D)
            return true;
        sizes = *end == ' ' ? end + 1 : end;
    }
    return false;
}

/* One query a sequence. */
static bool single_queries(const struct problem *p)
{
    bool single = p->cu_q != NULL || p->Nq == 1;
    for (int64_t b = 0; p->cu_q != NULL && b < p->sequences; b++)
        single = single && p->cu_q[b + 1] - p->cu_q[b] == 1;
    return single;
}

static bool masks_taken(const struct kernel_info *k, const struct problem *p, struct message *why)
{
    bool decode = k->flags & GROUPED, top_left = p->mask.align == ALIGN_TOP_LEFT;
    bool window = p->mask.left >= 0 || (p->mask.right >= 0 && !p->mask.causal);
    if (decode && (!single_queries(p) || (p->mask.causal && top_left)))
        return refuse(why, "%s decodes: one query a sequence, which sees every key, is right; Nq is "
                           "%lld%s", k->name, (long long)p->Nq, top_left ? ", top-left" : "");
    if (window && !(k->flags & TAKES_WINDOW))
        return refuse(why, "%s: --window is not modelled for it", k->name);
    if (decode || !p->mask.causal)
        return true;
    if (!(k->flags & (TAKES_CAUSAL | TAKES_TOP_LEFT)))
        return refuse(why, "%s: --causal is not modelled for it", k->name);
    if (k->flags & TAKES_TOP_LEFT && !top_left && p->Nq != p->Nk)
        return refuse(why, "%s knows the top-left causal mask only; --causal-align top-left is right",
                      k->name);
    if (k->flags & TAKES_CAUSAL && top_left && p->Nq != p->Nk)
        return refuse(why, "%s knows the bottom-right causal mask only; leave out --causal-align",
                      k->name);
    return true;
}

bool kernel_takes(const struct kernel_choice *c, const struct problem *p, enum format element,
                  struct message *why)
{
    const struct kernel_info *k = kernel_info(c->kernel);
    if (element != FORMAT_BF16 && element != FORMAT_FP16)
        return refuse(why, "%s takes bf16 or fp16, Q, K and V hold %s; --dtype bf16 is right", k->name,
                      format_info(element)->name);
    if (!head_size_taken(k->head_sizes, p->D))
        return refuse(why, "%s takes head sizes %s; D is %lld", k->name, k->head_sizes,
                      (long long)p->D);
    if (p->softcap > 0 && !(k->flags & TAKES_SOFTCAP))
        return refuse(why, "%s: --softcap is not modelled for it%s", k->name,
                      k->flags & BACKWARD ? ": how its tanh enters dS is not established" : "");
    if (p->cu_q != NULL && !(k->flags & TAKES_PACKED))
        return refuse(why, "%s: packed sequences (--cu-seqlens) are not modelled for it", k->name);
    if (p->tiles > 0)
        return refuse(why, "%s has its own tiles; leave out the | of --scores", k->name);
    return masks_taken(k, p, why);
}

struct launch problem_launch(const struct problem *p)
{
    struct launch l = {.len_q = 1, .dim = p->D, .shortest = p->Nk};
    l.batch = p->cu_q != NULL ? p->sequences : p->B;
    l.batch = l.batch > 0 ? l.batch : 1; /* an empty output needs no plan, and gets one */
    l.heads_q = p->launch_q > 0 ? p->launch_q : p->Hq;
    l.heads_kv = p->launch_kv > 0 ? p->launch_kv : p->Hkv;
    for (int64_t n = 0; n < problem_units(p); n += p->Hq) {
        int64_t length = problem_head(p, n).Nk;
        l.longest = length > l.longest ? length : l.longest;
        l.shortest = length < l.shortest ? length : l.shortest;
    }
    return l;
}

struct kernel_choice kernel_forward(const struct kernel_choice *backward)
{
    struct kernel_choice forward = *backward;
    forward.kernel = KERNEL_FA2;
    forward.version = 0;
    memset(forward.option, 0, sizeof forward.option);
    return forward;
}

bool kernel_plan(struct kernel_choice *c, const struct problem *p, struct message *why)
{
    const struct kernel_info *k = kernel_info(c->kernel);
    enum split_rule rule;
    struct launch l = problem_launch(p);
    if (!(k->flags & GROUPED))
        return true;
    if (!split_rule_from_name(k->name, &rule, why))
        return false;
    l.sms = c->sms;
    l.capacity = c->launch.capacity;
    l.num_splits = c->launch.num_splits;
    memcpy(l.option, c->launch.option, sizeof l.option);
    c->launch = l;
    return split_plan(rule, c->asked, &c->launch, &c->plan, why);
}

/* Is there a row that sees no key? */
static bool unseen_rows(const struct problem *p)
{
    for (int64_t n = 0; n < problem_units(p); n += p->Hq) {
        struct head h = problem_head(p, n);
        for (int64_t row = 0; row < h.Nq; row++) {
            int lo, hi;
            struct visible v = {&h, row, 0, (int)h.Nk, (int)h.Nk};
            visible_interval(&v, 0, &lo, &hi);
            if (lo == hi)
                return true;
        }
    }
    return false;
}

char *kernel_warnings(const struct kernel_choice *c, const struct problem *p)
{
    const struct kernel_info *k = kernel_info(c->kernel);
    const char *row;
    char *text = NULL;
    bool hidden = unseen_rows(p);
    for (int n = 0; (row = kernel_departs(c->kernel, n)) != NULL; n++) {
        if ((strstr(row, "sees no key") != NULL && hidden) ||
            (strstr(row, "negative scale") != NULL && p->scale.value < 0)) {
            text_append(&text, "caution  %s: ", k->name);
            text_wrapped(&text, 11 + (int)strlen(k->name), 9, row);
        }
    }
    return text;
}

/* Row b G + g of the new Q, key head `kv`, is sequence b's query of head kv G + g. */
static void regroup(const struct problem *p, struct problem *g)
{
    int64_t G = p->Hq / p->Hkv, sequences = p->cu_q != NULL ? p->sequences : p->B;
    for (int64_t b = 0; b < sequences; b++)
        for (int64_t h = 0; h < p->Hq; h++)
            for (int64_t d = 0; d < p->D; d++) {
                bool packed = p->cu_q != NULL;
                double x = tensor_get(&p->q, packed ? 0 : b, h, packed ? b : 0, d);
                tensor_set(&g->q, packed ? 0 : b, h / G, (packed ? b * G : 0) + h % G, d, x);
            }
}

bool kernel_group(const struct problem *p, struct problem *g, struct message *why)
{
    int64_t G = p->Hq / p->Hkv;
    bool packed = p->cu_q != NULL;
    const int64_t shape[TENSOR_MAX_RANK] = {p->B, p->Hkv, packed ? p->sequences * G : G, p->D};
    *g = *p;
    g->k.owns_data = g->v.owns_data = false;
    g->Hq = p->Hkv;
    g->Nq = shape[2];
    g->mask = problem_defaults().mask;
    g->cu_q = g->cu_k = NULL;
    g->tile_ends = NULL;
    if (!tensor_new(&g->q, p->q.dtype, TENSOR_MAX_RANK, shape, why))
        return false;
    regroup(p, g);
    if (!packed)
        return true;
    size_t bytes = ((size_t)p->sequences + 1) * sizeof *g->cu_q;
    g->cu_q = malloc(bytes);
    g->cu_k = malloc(bytes);
    if (g->cu_q == NULL || g->cu_k == NULL) {
        problem_free(g);
        return refuse(why, "no memory");
    }
    memcpy(g->cu_k, p->cu_k, bytes);
    for (int64_t b = 0; b <= p->sequences; b++)
        g->cu_q[b] = b * G;
    return true;
}
