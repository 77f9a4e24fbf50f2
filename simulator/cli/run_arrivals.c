/* run_arrivals.c: see run_arrivals.h. */
#include "simulator/cli/run_arrivals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference/certified_gradients.h"
#include "simulator/arrivals.h"
#include "simulator/scenario_parts.h"

static void add_view(struct report *r, struct json *to, const char *name, enum format f,
                     const struct arrivals *a, const struct arrivals_view *v)
{
    f = f == FORMAT_EXACT ? FORMAT_FP64 : f;
    int digits = format_info(f)->bits / 4;
    struct json *j = json_object(to, name);
    report_text(r, " %-7s %-7s results of a query tile: %s at most; %s of %s numbers vary\n", name,
                format_info(f)->name, grouped(v->distinct_most).text, grouped(v->varying).text,
                grouped(a->elements).text);
    if (v->varying > 0)
        report_text(r, "         widest: dQ[%lld,%lld,%lld,%lld] 0x%0*llX .. 0x%0*llX, %.4g ulp\n",
                    (long long)v->batch, (long long)v->head, (long long)v->row, (long long)v->dim,
                    digits, (unsigned long long)format_encode(f, v->low), digits,
                    (unsigned long long)format_encode(f, v->high), v->max_ulp);
    json_whole(j, "distinct_most", v->distinct_most);
    json_whole(j, "varying", v->varying);
    json_real(j, "max_ulp", v->max_ulp);
}

/* The results of the first query's columns, one mark for each, beside the exact gradient. */
static void draw_results(struct report *r, const struct problem *problem, const struct tensor *dO,
                         enum format f, const struct arrivals *a, bool drawn)
{
    struct certified_gradients *c = certified_gradients_new(problem, 0, dO);
    char axis[96];
    mpfr_t exact;
    mpfr_init2(exact, 128);
    snprintf(axis, sizeof axis, "distance from the result of %s, in ulps of %s",
             drawn ? "the first order" : "ascending order", format_info(f)->name);
    struct page_block *chart =
        page_chart(report_picture(r), axis, false,
                   "what dQ of the first query may be: the same parts, added in other orders");
    page_chart_key(chart, PAGE_DOT, "the commonest result");
    page_chart_key(chart, PAGE_RING, "a result of other orders");
    page_chart_key(chart, PAGE_DIAMOND, "the exact gradient");
    for (int d = 0; d < a->shown; d++) {
        const struct arrivals_results *x = &a->results[d];
        double ulp = format_ulp(f, x->value[0]);
        int common = 0;
        char note[80];
        for (int n = 1; n < x->count; n++)
            common = x->orders[n] > x->orders[common] ? n : common;
        snprintf(note, sizeof note, "%d results; commonest %.0f %%", x->count,
                 100.0 * (double)x->orders[common] / (double)a->orders);
        page_chart_row(chart, note, "dQ[0,0,0,%d]", d);
        if (x->count == 0 || !isfinite(x->value[0]))
            continue;
        for (int n = 0; n < x->count; n++) {
            double at = (x->value[n] - x->value[0]) / ulp;
            page_chart_mark(chart, n == common ? PAGE_DOT : PAGE_RING, at, at, "%s: %s orders",
                            number_text(f, x->value[n]).text, grouped(x->orders[n]).text);
        }
        certified_gradient_value(c, GRADIENT_Q, 0, 0, d, exact);
        mpfr_sub_d(exact, exact, x->value[0], MPFR_RNDN);
        double at = mpfr_get_d(exact, MPFR_RNDN) / ulp;
        page_chart_mark(chart, PAGE_DIAMOND, at, at, "exact: %+.3f ulp", at);
    }
    mpfr_clear(exact);
    certified_gradients_free(c);
}

bool run_arrivals(struct report *r, const struct problem *problem, const struct tensor *dO,
                  const struct simulation *simulation, struct message *why)
{
    const char *text = r->scenario->value[OPTION_ARRIVALS];
    const struct policy *p = &simulation->policy;
    struct arrivals a;
    int64_t draws = 0;
    if (text == NULL)
        return true;
    if (strcmp(text, "all") != 0 && !parse_integer("--arrivals", text, 1, 1 << 20, &draws, why))
        return false;
    if (!study_arrivals(problem, dO, simulation, draws, &a, why))
        return false;
    report_text(r, "arrivals   dQ under %s order%s of atomic adds; dK, dV do not vary\n",
                draws > 0 ? grouped(draws).text : "every", draws == 1 || draws == 0 ? "" : "s");
    report_text(r, " %s query tiles, each met by up to %s key tiles: %s orders\n",
                grouped(a.query_tiles).text, grouped(a.most_met).text, grouped(a.orders).text);
    struct json *j = json_object(r->json, "arrivals");
    json_whole(j, "orders", a.orders);
    json_whole(j, "query_tiles", a.query_tiles);
    json_whole(j, "elements", a.elements);
    add_view(r, j, "sum", p->site[SITE_DQ_SUM].format, &a, &a.sum);
    add_view(r, j, "stored", p->site[SITE_GRADIENT].format, &a, &a.stored);
    if (report_wants(r->scenario, ".svg")) {
        enum format f = p->site[SITE_GRADIENT].format;
        draw_results(r, problem, dO, f == FORMAT_EXACT ? FORMAT_FP64 : f, &a, draws > 0);
    }
    return true;
}
