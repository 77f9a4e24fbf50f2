/* exact_gradient.c: `flashulp exact PROBLEM --do ...`: the true gradients, every digit certified. */
#include "simulator/cli/exact_gradient.h"

#include <stdio.h>
#include <stdlib.h>

#include "reference/certified_gradients.h"
#include "simulator/cli/cli.h"
#include "simulator/scenario_gradient.h"
#include "simulator/scenario_parts.h"

struct gradient_answer {
    struct report *report;
    const struct problem *problem;
    const struct tensor *dO;
    int digits;
    int64_t shown, rational, undecided;
};

static const struct {
    const char *name, *key;
} arrays[] = {{"dQ", "dq_digits"}, {"dK", "dk_digits"}, {"dV", "dv_digits"}};

static void add_number(struct gradient_answer *a, struct json *list, const char *where,
                       const char *digits)
{
    enum { SHOWN = 64 };
    if (a->shown++ < SHOWN)
        report_text(a->report, " %-18s %s\n", where, digits);
    json_string(list, NULL, digits);
    report_row(a->report, "%s\t%s", where, digits);
}

/* The group's part of one array. */
static void answer_group(struct gradient_answer *a, struct certified_gradients *g,
                         const struct head *h, enum gradient which, struct json *list)
{
    const struct problem *p = a->problem;
    bool queries = which == GRADIENT_Q;
    int64_t heads = queries ? p->Hq / p->Hkv : 1, rows = queries ? h->Nq : h->Nk;
    struct certified c;
    certified_init(&c);
    for (int64_t i = 0; i < heads * rows * p->D; i++) {
        int64_t d = i % p->D, row = i / p->D % rows, n = i / p->D / rows;
        char *digits = certified_gradient_digits(g, which, n, row, d, a->digits, &c), where[96];
        if (!c.decided) {
            free(digits);
            digits = NULL;
            text_append(&digits, "undecided at %ld bits", (long)c.precision);
            a->undecided++;
        }
        a->rational += c.rational;
        snprintf(where, sizeof where, "%s[%lld,%lld,%lld,%lld]", arrays[which].name,
                 (long long)h->batch, (long long)(queries ? h->head + n : h->kv_head),
                 (long long)((queries ? h->q0 : h->k0) + row), (long long)d);
        add_number(a, list, where, digits);
        free(digits);
    }
    certified_clear(&c);
}

/* In the order of the tensors: dQ of every head, then dK, then dV. */
static void answer_all(struct gradient_answer *a)
{
    const struct problem *p = a->problem;
    int64_t G = p->Hq / p->Hkv, groups = problem_units(p) / G;
    struct certified_gradients **g = calloc((size_t)groups + 1, sizeof *g);
    if (g == NULL)
        abort();
    for (int n = 0; n < 3; n++) {
        struct json *list = json_list(a->report->json, arrays[n].key);
        for (int64_t group = 0; group < groups; group++) {
            struct head h = problem_head(p, group * G);
            cli_progress("exact", n * groups + group, 3 * groups);
            if (g[group] == NULL)
                g[group] = certified_gradients_new(p, group, a->dO);
            answer_group(a, g[group], &h, (enum gradient)n, list);
        }
    }
    cli_progress("exact", 3 * groups, 3 * groups);
    for (int64_t group = 0; group < groups; group++)
        certified_gradients_free(g[group]);
    free(g);
}

bool exact_gradient(const struct scenario *s, const struct scenario_input *in, int digits,
                    struct report *r, int *status, struct message *why)
{
    struct output_gradient given;
    const struct problem *p = &in->problem;
    double pairs = (double)problem_units(p) * (double)p->Nq * (double)p->Nk;
    if (!scenario_with_gradient(s, why) || !scenario_output_gradient(s, in, &given, why))
        return false;
    struct gradient_answer a = {r, p, &given.dO, digits, 0, 0, 0};
    report_text(r, "%s   gradients in exact arithmetic, dO %s, %d digits, certified\n%s%s", in->name,
                s->value[OPTION_DO], digits, in->remarks, given.remark);
    report_row(r, "element\tdigits");
    cli_expect("exact", pairs * (1e-5 + 1e-6 * (double)p->D));
    answer_all(&a);
    if (a.shown > 64)
        report_text(r, " ... %s more numbers: --json, -o FILE.csv\n", grouped(a.shown - 64).text);
    if (a.rational > 0)
        report_text(r, "%s of %s gradients are rational numbers, known exactly.\n",
                    grouped(a.rational).text, grouped(a.shown).text);
    *status = a.undecided > 0;
    output_gradient_free(&given);
    return true;
}
