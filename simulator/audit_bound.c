/* audit_bound.c: how far a run may lie from the true value: its rounding budget, if one is proved.

   Listings and FA2's kernels are covered wherever every site besides the weights, the stored scores
   and the groups' outputs holds fp32.  A measured output gets what any kernel with 16-bit weights,
   16-bit partial outputs and a tensor core may do.  Other kernels' budgets are not theorems. */
#include <math.h>
#include <string.h>

#include "simulator/audit_parts.h"

static const double KAPPA = 0x5p-23;       /* a tensor core's step, Volta to Blackwell */

static double half_spacing(enum format f)
{
    int p = format_info(f)->precision;
    double half = ldexp(1.0, -p);
    return p == 0 || p >= format_info(FORMAT_FP32)->precision ? 0 : half / (1 + half);
}

static bool holds_fp32(enum format f)
{
    return half_spacing(f) == 0;
}

/* The first site that holds less than fp32 and that no budget knows, or SITE_NONE. */
static enum site narrow_site(const struct simulation *s)
{
    for (int site = 0; site < SITE_DELTA; site++) {
        bool known = site == SITE_INPUT || site == SITE_PROB || site == SITE_PROB_RESCALE ||
                     site == SITE_SCORE_STORE || site == SITE_PARTIAL_OUT ||
                     site == SITE_PV_STORE || site == SITE_OUT;
        if (!known && !holds_fp32(s->policy.site[site].format))
            return (enum site)site;
    }
    return SITE_NONE;
}

struct rounding_budget audit_any_budget(const struct problem *p)
{
    bool halves = p->q.dtype == FORMAT_FP16 && p->v.dtype == FORMAT_FP16;
    enum format weights = halves ? FORMAT_FP16 : FORMAT_BF16;
    struct rounding_budget b = rounding_budget_fp32(weights, p->Nk, p->Nk / 16 + 1);
    b.groups = 128;
    b.sums_rounded = true;
    b.partial = b.weight;
    b.step = KAPPA;
    b.step_terms = 4;
    b.special = AUDIT_APPROXIMATE;
    return b;
}

static void group_sizes(const struct audit_run *run, struct rounding_budget *b)
{
    const struct simulation *s = &run->simulation;
    const struct problem *p = &run->problem;
    struct head h = {.problem = p, .Nq = p->Nq, .Nk = p->Nk, .D = p->D};
    struct choices c = simulation_choices(s, &h);
    int64_t tiles = p->tiles > 0 && c.widest > 0 ? p->tiles : (p->Nk + c.Bc - 1) / c.Bc;
    b->keys = p->Nk;
    b->tiles = tiles;
    if (s->is_kernel && kernel_info(s->kernel.kernel)->flags & GROUPED) {
        b->groups = s->kernel.plan.splits;
        b->keys = s->kernel.plan.blocks_per_split * s->kernel.plan.block_tokens;
        b->tiles = b->keys / c.Bc + 1;
    } else if (!s->is_kernel && s->algorithm == ALGORITHM_DECODE) {
        b->groups = c.grouping.splits;
        b->tiles = c.grouping.round_robin ? (tiles + b->groups - 1) / b->groups : c.grouping.tiles;
        b->keys = b->tiles * c.Bc;
    }
}

void audit_model_budget(const struct audit_run *run, struct rounding_budget *b)
{
    const struct policy *policy = &run->simulation.policy;
    const struct site_rule *prob = &policy->site[SITE_PROB];
    *b = rounding_budget_fp32(prob->format, 0, 0);
    group_sizes(run, b);
    b->tiny = ldexp(b->tiny, -prob->scale_log2);
    b->sums_rounded = run->simulation.choices.sum_rounded;
    b->partial = half_spacing(policy->site[SITE_PARTIAL_OUT].format);
    if (!run->simulation.is_kernel && run->simulation.algorithm == ALGORITHM_AUTOCAST)
        b->partial = half_spacing(policy->site[SITE_PV_STORE].format); /* a tile's for a group's */
    if (!run->simulation.is_kernel && run->simulation.algorithm == ALGORITHM_STANDARD)
        b->score = half_spacing(policy->site[SITE_SCORE_STORE].format);
    if (policy->site[SITE_SCORE_ACC].order.kind == ORDER_MMA ||
        policy->site[SITE_OUT_ACC].order.kind == ORDER_MMA) {
        b->step = KAPPA;
        b->step_terms = 4;
    }
    if (policy->special.how != SPECIAL_CR)
        b->special = AUDIT_APPROXIMATE;
}

bool audit_budget(const struct audit_run *run, const struct problem *p,
                  struct rounding_budget *budget, const char **why)
{
    const struct simulation *s = &run->simulation;
    if (run->measured) {
        *budget = audit_any_budget(p);
        return true;
    }
    *why = "a site other than the weights and the outputs holds less than fp32";
    if (narrow_site(s) != SITE_NONE)
        return false;
    *why = "the error of these special functions is not proved";
    if (s->policy.special.how > SPECIAL_POLY)
        return false;
    *why = "the maximum is shifted, and how far exponents then err is not proved";
    if (s->choices.repeated_max > 0)
        return false;
    *why = "for this kernel there is a budget, not a theorem";
    if (s->is_kernel && s->kernel.kernel != KERNEL_FA2 && s->kernel.kernel != KERNEL_FA2_SPLIT)
        return false;
    audit_model_budget(run, budget);
    return true;
}
