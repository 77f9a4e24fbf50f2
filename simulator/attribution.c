/* attribution.c: see attribution.h. */
#include "simulator/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "simulator/ledger.h"

/* What runs are made of; the ledger is recorded once and replayed often. */
struct study {
    const struct simulation *s;
    const struct head *h;
    const struct arithmetic *exact;
    struct ledger *ledger;
    struct attribution *a;
};

enum ledger_use { LEDGER_UNUSED, LEDGER_RECORDS, LEDGER_REPLAYS };

/* The head's outputs under a policy, as doubles; NULL with a sentence. */
static double *outputs(const struct study *x, const struct arithmetic *arith,
                       const struct policy *policy, enum ledger_use use, uint64_t sites,
                       struct message *why)
{
    struct run r;
    size_t count = (size_t)x->a->count;
    double *O = malloc((count + 1) * sizeof *O);
    if (O == NULL) {
        refuse(why, "no memory for %lld outputs", (long long)x->a->count);
        return NULL;
    }
    if (!run_new(&r, arith, policy, x->s->precision, why)) {
        free(O);
        return NULL;
    }
    if (use == LEDGER_RECORDS)
        ledger_record(x->ledger, &r, x->exact, x->s->precision);
    if (use == LEDGER_REPLAYS)
        ledger_replay(x->ledger, &r, sites);
    struct attention out = simulate_head(&r, x->s, x->h);
    for (size_t i = 0; i < count; i++)
        O[i] = r.arith->get(out.O->data, i);
    run_free(&r);
    return O;
}

static double *replayed(const struct study *x, uint64_t sites, struct message *why)
{
    struct policy exact = policy_all_exact(&x->s->policy);
    return outputs(x, x->exact, &exact, LEDGER_REPLAYS, sites, why);
}

/* The last rounding is taken away: what fp32 holds in the float arithmetic is left as it is. */
static struct policy before_out(const struct policy *p, const struct arithmetic *arith)
{
    struct policy open = *p;
    bool wide = arith == &arith_double || arith == &arith_mpfr;
    open.site[SITE_OUT].format = wide ? FORMAT_EXACT : FORMAT_FP32;
    return open;
}

static bool record(const struct study *x, struct message *why)
{
    struct attribution *a = x->a;
    struct policy open = before_out(&x->s->policy, x->s->arith);
    a->before = outputs(x, x->s->arith, &open, LEDGER_RECORDS, 0, why);
    if (a->before == NULL)
        return false;
    a->sites = ledger_sites(x->ledger) & ~(UINT64_C(1) << SITE_OUT);
    a->stops = ledger_first_nonfinite(x->ledger) >= 0;
    a->stops_at = ledger_nonfinite_site(x->ledger);
    a->ledger_bytes = ledger_bytes(x->ledger);
    a->exact = replayed(x, 0, why);
    return a->exact != NULL;
}

static bool contribute(const struct study *x, struct message *why)
{
    struct attribution *a = x->a;
    a->interaction = malloc(((size_t)a->count + 1) * sizeof *a->interaction);
    if (a->interaction == NULL)
        return refuse(why, "no memory for %lld outputs", (long long)a->count);
    for (int64_t i = 0; i < a->count; i++)
        a->interaction[i] = a->before[i] - a->exact[i];
    for (int site = 0; site < SITE_COUNT; site++) {
        if ((a->sites >> site & 1) == 0)
            continue;
        double *change = replayed(x, UINT64_C(1) << site, why);
        if (change == NULL)
            return false;
        for (int64_t i = 0; i < a->count; i++) {
            change[i] -= a->exact[i];
            a->interaction[i] -= change[i];
        }
        a->in_situ[site] = change;
    }
    return true;
}

/* Only this site rounds; all but this one do. */
static bool counterfactual(const struct study *x, enum site site, struct message *why)
{
    struct policy alone = policy_all_exact(&x->s->policy);
    struct policy without = before_out(&x->s->policy, x->exact);
    alone.site[site] = x->s->policy.site[site];
    without.site[site] = alone.site[SITE_OUT];
    without.site[site].order = x->s->policy.site[site].order;
    x->a->alone[site] = outputs(x, x->exact, &alone, LEDGER_UNUSED, 0, why);
    x->a->without[site] = outputs(x, x->exact, &without, LEDGER_UNUSED, 0, why);
    return x->a->alone[site] != NULL && x->a->without[site] != NULL;
}

static bool is_small(const struct head *h)
{
    return (double)h->Nq * (double)h->Nk * (double)h->D <= 1 << 13;
}

bool attribute(struct attribution *a, const struct simulation *s, const struct head *h,
               bool counterfactuals, struct message *why)
{
    bool mpfr = s->arith == &arith_mpfr || is_small(h);
    struct study x = {s, h, mpfr ? &arith_mpfr : &arith_double, ledger_new(), a};
    memset(a, 0, sizeof *a);
    a->count = h->Nq * h->D;
    bool ok = record(&x, why) && contribute(&x, why);
    for (int site = 0; ok && counterfactuals && site < SITE_COUNT; site++)
        if (a->sites >> site & 1)
            ok = counterfactual(&x, (enum site)site, why);
    ledger_free(x.ledger);
    if (!ok)
        attribution_free(a);
    return ok;
}

void attribution_free(struct attribution *a)
{
    free(a->exact);
    free(a->before);
    free(a->interaction);
    for (int site = 0; site < SITE_COUNT; site++) {
        free(a->in_situ[site]);
        free(a->alone[site]);
        free(a->without[site]);
    }
    memset(a, 0, sizeof *a);
}

double attribution_without(const struct attribution *a, const struct simulation *s, enum site site,
                           int64_t i)
{
    return format_round(s->policy.site[SITE_OUT].format, a->without[site][i], s->policy.saturate);
}

double attribution_seconds(const struct simulation *s, const struct head *h, bool counterfactuals)
{
    bool mpfr = s->arith == &arith_mpfr || is_small(h);
    enum { SITES = 12 };
    /* a tensor core's sums are emulated term by term */
    double slow = s->policy.site[SITE_OUT_ACC].order.kind == ORDER_MMA ? 4 : 1;
    double scores = slow * (double)h->Nq * (double)h->Nk;
    double exact = scores * (mpfr ? 2e-6 + 4e-7 * (double)h->D : 4e-7 + 7e-9 * (double)h->D);
    double rounding = scores * (mpfr ? 2e-6 + 4e-7 * (double)h->D : 5e-7 + 2.3e-8 * (double)h->D);
    return (SITES + 2) * exact + (counterfactuals ? SITES * (exact + rounding) : 0);
}
