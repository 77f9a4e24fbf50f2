/* compare_text.c: one finished pair of tensors as lines of text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/compare.h"
#include "simulator/scenario_parts.h"

struct index_text shape_and_dtype(const struct tensor_stream *s)
{
    struct index_text t = {""};
    size_t used = 0;
    for (int i = 0; i < s->rank; i++)
        used += (size_t)snprintf(t.text + used, sizeof t.text - used, "%s%" PRId64,
                                 i > 0 ? "," : "", s->shape[i]);
    snprintf(t.text + used, sizeof t.text - used, "%s %s", s->rank == 0 ? "one number" : "",
             format_info(s->dtype)->name);
    return t;
}

struct number_text tolerance_text(double x)
{
    struct number_text t = number_text(FORMAT_FP64, x);
    double up = x;
    if (!isfinite(x) || strlen(t.text) <= 12)
        return t;
    for (int i = 0; i < 8; i++) { /* four digits, rounded up: at most one more in the last */
        snprintf(t.text, sizeof t.text, "%.3e", up);
        snprintf(t.text, sizeof t.text, "%.4g", strtod(t.text, NULL));
        if (strtod(t.text, NULL) >= x)
            break;
        up = x * (1 + 0x1p-13 * (i + 1));
    }
    return t;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void say_counts(char **text, const struct comparison *c)
{
    char line[128];
    int used =
        snprintf(line, sizeof line, " %s of %s elements differ (%.3g %%)", grouped(c->differ).text,
                 grouped(c->elements).text, share(c->differ, c->elements));
    text_append(text, "%s%*sNaN %s and %s, Inf %s and %s\n", line, used < 45 ? 45 - used : 2, "",
                grouped(c->nan[0]).text, grouped(c->nan[1]).text, grouped(c->infinite[0]).text,
                grouped(c->infinite[1]).text);
    text_append(text, " distance in ulps    0: %s    1: %s    2 or more: %s\n",
                grouped(c->elements - c->differ).text, grouped(c->one_step).text,
                grouped(c->differ - c->of_kind - c->one_step).text);
    if (c->of_kind > 0)
        text_append(text,
                    " different kind      %s: NaN, +inf, -inf or a number against another of "
                    "these\n",
                    grouped(c->of_kind).text);
    if (c->zero_signs > 0)
        text_append(text, " signs of zero       %s: +0 against -0, no distance\n",
                    grouped(c->zero_signs).text);
}

static void say_bias(char **text, const struct comparison *c)
{
    double z, mean = compare_mean(c);
    text_append(text, " signed mean         %+.3g ulp  (", mean);
    if (!compare_z(c, &z))
        text_append(text, "too few rows for a z: %s, %d are right)\n", grouped(c->rows).text,
                    COMPARE_FEW_ROWS);
    else if (isinf(z))
        text_append(text, "every row alike: biased)\n");
    else
        text_append(text, "z %+.1f over %s rows: %s)\n", z, grouped(c->rows).text,
                    fabs(z) < 3   ? "no bias"
                    : fabs(z) < 5 ? "perhaps biased"
                                  : "biased");
}

static void say_heads(char **text, const struct comparison *c)
{
    enum { MOST = 6 };
    int64_t low = INT64_MAX, high = 0, said = 0, odd;
    bool *marks = calloc((size_t)c->heads + 1, sizeof *marks);
    if (marks == NULL)
        abort();
    odd = compare_odd_heads(c, marks);
    for (int64_t h = 0; h < c->heads; h++) {
        if (marks[h])
            continue;
        low = c->head_differ[h] < low ? c->head_differ[h] : low;
        high = c->head_differ[h] > high ? c->head_differ[h] : high;
    }
    char *words = NULL;
    text_append(&words, "%s .. %s per head, %s", grouped(low).text, grouped(high).text,
                odd == 0 ? "all alike (a layout bug would not be)" : "but");
    for (int64_t h = 0; h < c->heads && odd > 0; h++)
        if (marks[h] && said++ < MOST)
            text_append(&words, "%s head %" PRId64 ": %s", said > 1 ? "," : "", h,
                        grouped(c->head_differ[h]).text);
    if (odd > MOST)
        text_append(&words, ", and %s more", grouped(odd - MOST).text);
    text_append(text, " by head             ");
    text_wrapped(text, 21, 21, words);
    free(words);
    free(marks);
}

static void say_tolerances(char **text, const struct comparison *c)
{
    const char *none = "                     ";
    if (c->of_kind > 0) {
        text_append(text, " passes with         nothing: no tolerance covers a different kind\n");
        return;
    }
    text_append(text, " passes with         ");
    if (isfinite(c->least_atol))
        text_append(text, "--atol %s   or   ", tolerance_text(c->least_atol).text);
    if (isfinite(c->least_rtol))
        text_append(text, "--rtol %s   or   ", tolerance_text(c->least_rtol).text);
    text_append(text, "--ulp %" PRId64 "\n", c->max_steps);
    if (!isfinite(c->least_rtol))
        text_append(text, "%sno --rtol does: want is 0 where got is not\n", none + 1);
}

static void say_base(char **text, const struct comparison *c)
{
    int base = compare_base(c);
    if (base > 0)
        text_append(text, " base of logarithms  got = 1.442695 want throughout: got is base 2, "
                          "want base e\n");
    if (base < 0)
        text_append(text, " base of logarithms  want = 1.442695 got throughout: got is base e, "
                          "want base 2\n");
}

static void say_side(char **text, const char *name, const struct compare_pair *p,
                     const struct compare_side *s)
{
    int64_t averaged = p->c.elements - s->of_kind;
    text_append(text, " %-4s from exact     %.3g ulp at most", name, s->max_ulp);
    if (s->worst >= 0 && s->max_ulp > 0)
        text_append(text, ", at %s", index_text(p->got.rank, p->got.shape, s->worst).text);
    text_append(text, "; mean %+.3g; correctly rounded: %s\n",
                averaged > 0 ? s->sum_ulp / (double)averaged : 0, grouped(s->rounded).text);
    if (s->of_kind > 0)
        text_append(text, "                     %s of another kind than exact\n",
                    grouped(s->of_kind).text);
}

static void say_exact(char **text, const struct compare_pair *p)
{
    text_append(text, " nearer to exact     got at %s, want at %s, equally far at %s\n",
                grouped(p->c.nearer[0]).text, grouped(p->c.nearer[1]).text,
                grouped(p->c.equally_far).text);
    say_side(text, "got", p, &p->c.side[0]);
    say_side(text, "want", p, &p->c.side[1]);
}

static void say_logits(char **text, const struct logits *l)
{
    int64_t defined = l->rows - l->undefined;
    text_append(text,
                " next token          %s of %s rows choose another (%s where one side ties)\n",
                grouped(l->flips).text, grouped(defined).text, grouped(l->ties).text);
    for (int i = 0; i < LOGITS_KEEP && i < l->flips; i++)
        text_append(text,
                    "  row %-6" PRId64 "         got %" PRId64 " by %" PRId64 " ulp, want %" PRId64
                    " by %" PRId64 " ulp\n",
                    l->flip[i].row, l->flip[i].got, l->flip[i].got_margin, l->flip[i].want,
                    l->flip[i].want_margin);
    if (defined > 0)
        text_append(text,
                    " KL(want || got)     mean %.3g nat, largest %.3g nat in row %" PRId64 "\n",
                    l->sum_divergence / (double)defined, l->max_divergence, l->worst);
    if (l->undefined > 0)
        text_append(text, " not established     %s rows with NaN or +inf, or nothing but -inf\n",
                    grouped(l->undefined).text);
}

static void say_rounded(char **text, const struct compare_pair *p)
{
    const struct tensor_stream *side[2] = {&p->got, &p->want};
    for (int i = 0; i < 2; i++)
        if (side[i]->dtype != p->c.format)
            text_append(text, " compared in %s    %s, %s, was rounded: %s of %s values changed\n",
                        format_info(p->c.format)->name, i == 0 ? "got" : "want",
                        format_info(side[i]->dtype)->name, grouped(p->rounded[i]).text,
                        grouped(p->c.elements).text);
}

void compare_say(struct compare_pair *p)
{
    char **text = &p->job->text;
    const struct comparison *c = &p->c;
    bool same = c->differ == 0 && c->zero_signs == 0;
    if (p->label[0] != 0)
        text_append(text, "%s   %s%s\n", p->label, shape_and_dtype(&p->got).text,
                    same && p->job->all ? "   equal" : "");
    say_rounded(text, p);
    if (same && p->job->all && p->exact.file == NULL && !p->logits)
        return;
    say_counts(text, c);
    if (c->differ > 0) {
        say_bias(text, c);
        if (c->heads > 1)
            say_heads(text, c);
        say_tolerances(text, c);
        say_base(text, c);
    }
    if (p->exact.file != NULL)
        say_exact(text, p);
    if (p->logits)
        say_logits(text, &p->l);
}
