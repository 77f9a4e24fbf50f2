/* exact.c: `flashulp exact PROBLEM`: the true result, every digit certified.  Exit 1: some number
   (softcap) could not be settled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/certified.h"
#include "simulator/cli/cli.h"
#include "simulator/cli/exact_gradient.h"
#include "simulator/cli/exact_picture.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

enum { SHOWN = 64 };

/* Measured: a certified exponential takes about 5 microseconds, a product 0.2. */
static double expected_seconds(const struct problem *p, const struct selection *selection)
{
    double keys = (double)selection->rows * (double)p->Nk;
    return keys * (5e-6 + 2e-7 * (double)selection->dims);
}

/* [b,h,n] of a selected row in the output tensor. */
struct row_place {
    int64_t b, h, n;
};

static struct row_place row_place(const struct problem *p, const struct selection *selection,
                                  int64_t i)
{
    struct head h = problem_head(p, selection->unit[i]);
    return (struct row_place){h.batch, h.head, h.q0 + selection->row[i]};
}

/* A number longer than its line goes on below itself, 50 digits a line. */
static void show_number(struct report *r, const char *where, const char *digits)
{
    enum { ROOM = 60, A_LINE = 50 };
    int length = (int)strlen(digits), line = length;
    if (length > ROOM)
        line = A_LINE + (digits[0] == '-') + (memchr(digits, '.', A_LINE) != NULL);
    report_text(r, " %-18s %.*s\n", where, line, digits);
    for (int at = line; at < length; at += A_LINE)
        report_text(r, "%20s%.*s\n", "", A_LINE, digits + at);
}

/* O[b,h,n,d], or with d = -1 L[b,h,n]; the text shows the first numbers only. */
static void add_number(struct report *r, bool shown, const struct row_place *at, int64_t d,
                       const char *digits)
{
    char where[64];
    if (d >= 0)
        snprintf(where, sizeof where, "O[%lld,%lld,%lld,%lld]", (long long)at->b, (long long)at->h,
                 (long long)at->n, (long long)d);
    else
        snprintf(where, sizeof where, "L[%lld,%lld,%lld]", (long long)at->b, (long long)at->h,
                 (long long)at->n);
    if (shown)
        show_number(r, where, digits);
    report_row(r, "%s\t%s", where, digits);
}

struct answer {
    struct report *report;
    struct json *digits, *lse;
    int wanted;
    int64_t shown, rational, undecided;
};

/* The digits of one number; with softcap the honest answer may be that they are not settled. */
static char *digits_of(struct answer *a, struct certified_row *row, int64_t d, struct certified *c)
{
    char *digits =
        d < 0 ? certified_digits_lse(row, a->wanted, c) : certified_digits(row, d, a->wanted, c);
    a->rational += d >= 0 && c->rational;
    if (c->kind != CERTIFIED_FINITE || c->decided)
        return digits;
    free(digits);
    digits = NULL;
    text_append(&digits, "undecided at %ld bits", (long)c->precision);
    a->undecided++;
    return digits;
}

static void answer_row(struct answer *a, const struct problem *p, const struct selection *selection,
                       int64_t i)
{
    struct head h = problem_head(p, selection->unit[i]);
    struct row_place at = row_place(p, selection, i);
    struct certified_row *row = certified_row_new(&h, selection->row[i]);
    struct certified c;
    certified_init(&c);
    for (int64_t k = 0; k <= selection->dims; k++) {
        int64_t d = k < selection->dims ? selection->dim[k] : -1;
        char *digits = digits_of(a, row, d, &c);
        json_string(d < 0 ? a->lse : a->digits, NULL, digits);
        add_number(a->report, a->shown++ < SHOWN, &at, d, digits);
        free(digits);
    }
    certified_clear(&c);
    certified_row_free(row);
}

/* b, h, n, d of the whole; rows, columns of a selection. */
static void add_shape(struct report *r, const struct problem *p, const struct selection *selection)
{
    struct json *shape = json_list(r->json, "shape");
    if (selection->rows == selection->rows_total) {
        json_whole(shape, NULL, p->B);
        json_whole(shape, NULL, p->Hq);
        json_whole(shape, NULL, p->Nq);
    } else {
        json_whole(shape, NULL, selection->rows);
    }
    json_whole(shape, NULL, selection->dims);
}

static bool answer(struct report *r, const struct scenario *s, const struct scenario_input *in,
                   const struct selection *selection, int *status, struct message *why)
{
    struct answer a = {.report = r, .wanted = 20};
    int64_t digits = 20;
    if (s->value[OPTION_DIGITS] != NULL &&
        !parse_integer("--digits", s->value[OPTION_DIGITS], 1, 100000, &digits, why))
        return false;
    a.wanted = (int)digits;
    if (s->given[OPTION_DO])
        return exact_gradient(s, in, a.wanted, r, status, why);
    report_text(r, "%s   attention in exact arithmetic, %s digits, certified\n", in->name,
                grouped(digits).text);
    report_text(r, "%s", in->remarks);
    if (selection->rows < selection->rows_total)
        report_text(r, "%s of %s rows\n", grouped(selection->rows).text,
                    grouped(selection->rows_total).text);
    report_row(r, "element\tdigits");
    add_shape(r, &in->problem, selection);
    a.digits = json_list(r->json, "digits");
    a.lse = json_list(r->json, "lse_digits");
    cli_expect("exact", expected_seconds(&in->problem, selection));
    for (int64_t i = 0; i < selection->rows; i++) {
        cli_progress("exact", i, selection->rows);
        answer_row(&a, &in->problem, selection, i);
    }
    cli_progress("exact", selection->rows, selection->rows);
    if (a.shown > SHOWN)
        report_text(r, " ... %s more numbers: --json, -o FILE.csv, or --rows, --dims\n",
                    grouped(a.shown - SHOWN).text);
    if (a.rational > 0)
        report_text(r, "%s of %s outputs are rational numbers, known exactly.\n",
                    grouped(a.rational).text, grouped(selection->rows * selection->dims).text);
    *status = a.undecided > 0;
    return true;
}

static bool exact(const struct scenario *s, struct report *r, int *status, struct message *why)
{
    struct scenario_input in;
    struct selection selection;
    const char *endings = s->given[OPTION_DO] ? "json md csv" : "json md csv svg";
    if (!report_check_outputs(s, endings, NULL, 0, why) ||
        !cli_check_figure(s, "weights exponentials", why) || !scenario_problem(s, &in, why))
        return false;
    bool ok = scenario_select(s, &in.problem, &selection, why);
    if (ok) {
        ok = exact_picture(r, &in.problem, &selection, why) &&
             answer(r, s, &in, &selection, status, why) && report_finish(r, why);
        selection_free(&selection);
    }
    scenario_input_free(&in);
    return ok;
}

int cli_exact(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_EXACT, argc, argv, &status))
        return status;
    report_new(&r, &s);
    if (!exact(&s, &r, &status, &why))
        status = cli_refused("exact", &why);
    report_free(&r);
    scenario_free(&s);
    return status;
}
