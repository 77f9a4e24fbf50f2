/* exact_picture.c: see exact_picture.h.  A picture needs four digits: scores and weights are in
   double; the digits of the output are certified. */
#include "simulator/cli/exact_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/certified.h"
#include "simulator/cli/cli.h"
#include "simulator/scenario_parts.h"

enum { MOST_KEYS = 40 };

struct row {
    int keys;
    int64_t key[MOST_KEYS];
    double score[MOST_KEYS], value[MOST_KEYS], weight[MOST_KEYS];
    double largest;
};

static double score(const struct head *h, int64_t r, int64_t c)
{
    const struct problem *p = h->problem;
    double s = 0;
    for (int64_t d = 0; d < p->D; d++)
        s = fma(tensor_get(&p->q, h->batch, h->head, h->q0 + r, d),
                tensor_get(&p->k, h->batch, h->kv_head, h->k0 + c, d), s);
    s *= p->scale.value / sqrt((double)p->scale.root);
    return p->softcap > 0 ? p->softcap * tanh(s / p->softcap) : s;
}

/* False: more keys than are drawn, or a score that is not finite. */
static bool read_row(struct row *x, const struct head *h, int64_t r, int64_t d)
{
    const struct problem *p = h->problem;
    double sum = 0;
    *x = (struct row){.largest = -INFINITY};
    for (int64_t c = 0; c < h->Nk; c++) {
        if (!sees(h, r, c))
            continue;
        if (x->keys == MOST_KEYS)
            return false;
        int n = x->keys++;
        x->key[n] = c;
        x->score[n] = score(h, r, c);
        x->value[n] = tensor_get(&p->v, h->batch, h->kv_head, h->k0 + c, d);
        if (!isfinite(x->score[n]) || !isfinite(x->value[n]))
            return false;
        x->largest = fmax(x->largest, x->score[n]);
    }
    for (int n = 0; n < x->keys; n++)
        sum += x->weight[n] = exp(x->score[n] - x->largest);
    for (int n = 0; n < x->keys; n++)
        x->weight[n] /= sum;
    return x->keys > 0;
}

/* From 0, key after key, to the output. */
static void draw_weights(struct page *page, const struct row *x, int64_t d, const char *output)
{
    char axis[80];
    double from = 0;
    snprintf(axis, sizeof axis, "sum of weight x value so far, column %" PRId64, d);
    struct page_block *chart = page_chart(page, axis, false, "what each key adds to the output");
    page_chart_key(chart, PAGE_BAR_1, "added by a key");
    for (int n = 0; n < x->keys; n++)
        if (x->value[n] < 0) {
            page_chart_key(chart, PAGE_BAR_2, "taken away by one");
            break;
        }
    page_chart_key(chart, PAGE_DIAMOND, "the output O");
    for (int n = 0; n < x->keys; n++) {
        double to = from + x->weight[n] * x->value[n];
        char note[80];
        snprintf(note, sizeof note, "%.3f x %.4g", x->weight[n], x->value[n]);
        page_chart_row(chart, note, "key %" PRId64 ", score %.4g", x->key[n], x->score[n]);
        page_chart_mark(chart, to >= from ? PAGE_BAR_1 : PAGE_BAR_2, fmin(from, to), fmax(from, to),
                        "%+.4g", to - from);
        from = to;
    }
    page_chart_row(chart, output, "O");
    page_chart_mark(chart, PAGE_DIAMOND, from, from, "%s", output);
}

/* e^s and e^(s - m), as powers of ten; far outside fp32 they are still drawn. */
static void draw_exponentials(struct page *page, const struct row *x)
{
    const double e = log10(exp(1)), tiny = log10(ldexp(1, -149)),
                 huge = log10(format_info(FORMAT_FP32)->largest);
    struct page_block *chart =
        page_chart(page, "size of the exponential, as a power of ten", false,
                   "the exponentials of a row, beside what fp32 can hold; m is the largest score");
    page_chart_key(chart, PAGE_RING, "e^s, as the definition has it");
    page_chart_key(chart, PAGE_DOT, "e^(s - m), as kernels compute it");
    page_chart_limit(chart, tiny, "below: 0 in fp32");
    page_chart_limit(chart, huge, "above: infinity in fp32");
    for (int n = 0; n < x->keys; n++) {
        double plain = x->score[n] * e, safe = (x->score[n] - x->largest) * e;
        char note[32];
        snprintf(note, sizeof note, "s - m = %.4g", x->score[n] - x->largest);
        page_chart_row(chart, note, "key %" PRId64 ", s = %.4g", x->key[n], x->score[n]);
        page_chart_mark(chart, PAGE_RING, plain, plain, "e^s: 10^%.4g", plain);
        page_chart_mark(chart, PAGE_DOT, safe, safe, "e^(s - m): 10^%.4g", safe);
    }
}

bool exact_picture(struct report *r, const struct problem *p, const struct selection *selection,
                   struct message *why)
{
    struct row x;
    if (!report_wants(r->scenario, ".svg"))
        return true;
    if (selection->rows != 1 || selection->dims == 0)
        return refuse(
            why, "-o .svg: a picture shows one row, %s are selected; --heads, --rows say which",
            grouped(selection->rows).text);
    struct head h = problem_head(p, selection->unit[0]);
    int64_t row = selection->row[0], d = selection->dim[0];
    if (!read_row(&x, &h, row, d))
        return refuse(why,
                      "-o .svg: a picture shows 1 to %d visible keys with finite scores and "
                      "values; this row has others",
                      MOST_KEYS);
    struct certified_row *certified = certified_row_new(&h, row);
    char *output = certified_digits(certified, d, 8, NULL);
    if (cli_draws(r->scenario, "weights"))
        draw_weights(report_picture(r), &x, d, output);
    if (cli_draws(r->scenario, "exponentials"))
        draw_exponentials(report_picture(r), &x);
    free(output);
    certified_row_free(certified);
    return true;
}
