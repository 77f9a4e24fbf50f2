/* walk_ending.c: what a walk comes to: the answer against the certified result, what L gives back,
   divisions, and where to go from here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/judge.h"
#include "simulator/cli/walk_parts.h"
#include "simulator/scenario_parts.h"

const char *format_noun(enum format f)
{
    static char text[32];
    if (f == FORMAT_FP32)
        return "float";
    snprintf(text, sizeof text, "%s number", format_info(f)->name);
    return text;
}

void show_words(struct report *r, int indent, char *words)
{
    if (words != NULL)
        text_wrapped(&r->text, 0, indent, words);
    free(words);
}

const char *number_word(int n)
{
    static const char *const words[] = {"no",    "one",   "two",  "three", "four",   "five",  "six",
                                        "seven", "eight", "nine", "ten",   "eleven", "twelve"};
    static char text[24];
    if (n >= 0 && n <= 12)
        return words[n];
    snprintf(text, sizeof text, "%d", n);
    return text;
}

/* One output of the row beside what it should be. */
struct answer {
    int64_t d;
    double value, rounded; /* the certified result, rounded to the output's format */
    bool attention;        /* the same steps, exact, are attention */
    double twin;
    char digits[64]; /* of the certified result */
};

/* 19 digits, cut, not rounded; "..." where there are more. */
static void cut_digits(char *to, size_t room, const char *digits)
{
    int significant = 0;
    size_t n = 0;
    bool leading = true;
    for (; digits[n] != 0 && n + 4 < room && significant < 19; n++) {
        leading = leading && strchr("-0.", digits[n]) != NULL;
        significant += !leading && digits[n] != '.';
        if (digits[n] == 'e')
            break;
    }
    bool whole = digits[n] == 0;
    const char *exponent = strchr(digits, 'e');
    snprintf(to, room, "%.*s%s%s", (int)n, digits, whole ? "" : "...",
             exponent != NULL && !whole ? exponent : "");
}

static struct answer find_answer(const struct walk *w, int64_t d)
{
    struct answer a = {.d = d};
    const double(*exact)[2];
    const double *row = walk_last(w, TENSOR_O, &exact);
    struct certified_row *context = certified_row_new(&w->head, w->row);
    struct certified c;
    mpfr_t truth;
    certified_init(&c);
    mpfr_init2(truth, 120);
    char *digits = certified_digits(context, d, 40, &c);
    cut_digits(a.digits, sizeof a.digits, digits);
    free(digits);
    a.value = row[d];
    a.twin = exact[d][0];
    a.rounded = certified_round(context, d, w->format, NULL);
    certified_value(context, d, truth);
    double t = mpfr_get_d(truth, MPFR_RNDN), far = fabs(a.twin - t);
    a.attention = isfinite(t) && isfinite(a.twin)
                      ? far <= 0x1p-40 * fmax(fabs(t), fabs(a.twin))
                      : isnan(t) == isnan(a.twin) && (isnan(t) || t == a.twin);
    mpfr_clear(truth);
    certified_clear(&c);
    certified_row_free(context);
    return a;
}

static void hex_of(enum format f, double x, char *text, size_t room)
{
    snprintf(text, room, "0x%0*llX", format_info(f)->bits / 4,
             (unsigned long long)format_encode(f, x));
}

static bool is_rounded(const struct walk *w, const struct answer *a)
{
    return format_encode(w->format, a->value) == format_encode(w->format, a->rounded);
}

static void say_answer(char **words, const struct walk *w, const struct answer *a)
{
    char hex[24], name[32] = "O";
    if (w->head.D > 1)
        snprintf(name, sizeof name, "O[%lld]", (long long)a->d);
    hex_of(w->format, a->value, hex, sizeof hex);
    text_append(words, "%s = %s = %s, ", name, walk_number(a->value, 0, 16).text, hex);
    if (is_rounded(w, a)) {
        text_append(words, "the %s nearest the exact %s", format_noun(w->format), a->digits);
        if (!a->attention)
            text_append(words, ", by luck: in exact arithmetic these steps give %s",
                        walk_number(a->twin, 0, 16).text);
        return;
    }
    hex_of(w->format, a->rounded, hex, sizeof hex);
    if (a->attention) {
        text_append(words, "not the %s nearest the exact %s; that is %s = %s",
                    format_noun(w->format), a->digits, walk_number(a->rounded, 0, 16).text, hex);
        if (isfinite(a->value) && isfinite(a->rounded)) {
            long long steps = (long long)format_steps(w->format, a->rounded, a->value);
            text_append(words, ", %lld step%s %s", llabs(steps), llabs(steps) == 1 ? "" : "s",
                        steps > 0 ? "below" : "above");
        }
        return;
    }
    text_append(words,
                "but attention of these inputs is %s: not by rounding but by the algorithm, whose "
                "steps give %s in exact arithmetic",
                a->digits, walk_number(a->twin, 0, 16).text);
}

/* How many of a row's outputs are right, where that is quickly said. */
static void say_row(struct report *r, const struct walk *w)
{
    const struct selection *s = &w->selection;
    const double(*exact)[2];
    const double *row = walk_last(w, TENSOR_O, &exact);
    struct verdict verdict;
    if (s->dims < 2 || w->head.Nk * s->dims > 1 << 18)
        return;
    double *got = malloc((size_t)s->dims * sizeof *got);
    if (got == NULL)
        abort();
    for (int64_t k = 0; k < s->dims; k++)
        got[k] = row[s->dim[k]];
    verdict_start(&verdict);
    judge_row(&verdict, 1, &w->head, w->row, s->dim, s->dims, w->format, got);
    free(got);
    struct error_summary e = verdict.ulps;
    report_text(r, "%s of the row's %s outputs are correctly rounded; largest error %.2f ulp.\n",
                grouped(e.correctly_rounded).text, grouped(e.elements).text, e.max_ulp);
}

void show_answer(struct report *r, const struct walk *w)
{
    const double(*exact)[2];
    char *words = NULL;
    if (w->backward) {
        show_backward_answer(r, w);
        return;
    }
    if (w->selection.dims == 0 || walk_last(w, TENSOR_O, &exact) == NULL)
        return;
    struct answer a = find_answer(w, w->selection.dim[0]);
    say_answer(&words, w, &a);
    show_words(r, 4, words);
    say_row(r, w);
    struct json *j = json_object(r->json, "answer");
    json_real(j, "value", a.value);
    json_string(j, "exact", a.digits);
    json_truth(j, "correctly_rounded", is_rounded(w, &a));
    json_truth(j, "attention", a.attention);
}

/* "bf16 has no 24.93; around it are 24.875 and 25." */
static void say_neighbours(char **words, const struct walk *w)
{
    const char *text = NULL;
    for (int g = 0; g < w->group_count; g++)
        if (w->groups[g].tensor == TENSOR_O && w->groups[g].count > 0)
            text = w->lines[w->groups[g].first].figure;
    if (text == NULL)
        return;
    double figure = strtod(text, NULL), near = format_round(w->format, figure, false);
    if (near == figure || !isfinite(near))
        return;
    double other = format_next(w->format, near, near < figure ? 1 : -1);
    text_append(words, "  %s has no %s; around it are %s and %s.", format_info(w->format)->name,
                text, walk_number(fmin(near, other), 0, 16).text,
                walk_number(fmax(near, other), 0, 16).text);
}

/* Of the changed steps those on the way to the answer: neither L nor the store. */
static int steps_on_the_way(const struct walk *w)
{
    int count = 0;
    for (int n = 0; n < w->step_count; n++) {
        const struct walk_step *step = &w->steps[n];
        bool any = false;
        for (int g = step->first; g < step->first + step->count; g++)
            for (int i = 0; i < w->groups[g].count; i++)
                any = any || w->lines[w->groups[g].first + i].changed;
        count += any && step->step != STEP_STORE && step->step != STEP_LSE;
    }
    return count;
}

void show_changed_answer(struct report *r, const struct walk *w)
{
    char *words = NULL;
    if (w->backward) {
        report_text(r, "drift in ulps of %s.\n", format_info(w->format)->name);
        show_backward_answer(r, w);
        return;
    }
    struct answer a = find_answer(w, w->selection.dim[0]);
    int drifted = steps_on_the_way(w);
    bool right = is_rounded(w, &a);
    text_append(&words, "drift in ulps of %s.  %s is %sthe %s nearest the exact result%s",
                format_info(w->format)->name, walk_number(a.value, 0, 16).text, right ? "" : "not ",
                format_noun(w->format), right ? "" : ", ");
    if (!right)
        text_append(&words, "which is %s", walk_number(a.rounded, 0, 16).text);
    text_append(&words, ": %s step%s drifted%s.", number_word(drifted), drifted == 1 ? "" : "s",
                right ? ", yet the answer is correctly rounded" : "");
    say_neighbours(&words, w);
    show_words(r, 0, words);
}

enum { WEIGHTS = 8 };

/* The row's scores over all tiles, as the softmax took them, and exactly; how many. */
static int64_t visible_scores(const struct walk *w, double s[WEIGHTS], double exact[WEIGHTS],
                              double *sum, double L)
{
    int64_t count = 0;
    size_t all = trace_count(w->trace);
    *sum = 0;
    for (size_t n = 0; n < all; n++) {
        const struct event *e = trace_event(w->trace, n);
        int lo, hi;
        bool last = true;
        if (e->tensor != TENSOR_S || e->i != (uint32_t)w->query_tile)
            continue;
        for (size_t next = n + 1; next < all && last; next++) {
            const struct event *f = trace_event(w->trace, next);
            if (f->j != e->j || f->i != e->i || f->tensor == TENSOR_P)
                break;
            last = f->tensor != TENSOR_S;
        }
        if (!last)
            continue;
        walk_seen(w, n, &lo, &hi);
        for (int c = lo; c < hi && c < key_count(&w->attention, (int)e->j); c++, count++) {
            size_t at = (size_t)w->tile_row * e->cols + (size_t)c;
            double value = trace_values(w->trace, n)[at];
            *sum += exp(value - L);
            if (count < WEIGHTS) {
                s[count] = value;
                exact[count] = trace_exact(w->trace, n)[at][0];
            }
        }
    }
    return count;
}

static void weights_text(char **text, const double *s, int64_t count, double L)
{
    for (int64_t n = 0; n < count; n++)
        text_append(text, " %.3f", exp(s[n] - L));
}

static void show_weights(struct report *r, const struct walk *w)
{
    const double(*exact_L)[2];
    const double *L = walk_last(w, TENSOR_LSE, &exact_L);
    double s[WEIGHTS], exact[WEIGHTS], sum, most = -INFINITY, total = 0;
    const char *x = w->input.problem.scores_given ? "x" : "s";
    if (L == NULL)
        return;
    int64_t count = visible_scores(w, s, exact, &sum, L[0]);
    if (count == 0)
        report_text(r, "The row sees no key: by contract O = 0 and L = -inf.\n");
    if (!isfinite(L[0]))
        return;
    if (count > WEIGHTS) {
        report_text(r, "e^(%s - L) over its %s keys sums to %s: L gives the weights back.\n", x,
                    grouped(count).text, walk_number(sum, 0, 12).text);
        return;
    }
    for (int64_t n = 0; n < count; n++)
        most = fmax(most, exact[n]);
    for (int64_t n = 0; n < count; n++)
        total += exp(exact[n] - most);
    char *ours = NULL, *right = NULL;
    weights_text(&ours, s, count, L[0]);
    weights_text(&right, exact, count, most + log(total));
    char *words = NULL;
    if (ours != NULL && strcmp(ours, right) == 0)
        text_append(&words, "e^(%s - L) gives back the weights%s from L alone.", x, ours);
    else if (ours != NULL)
        text_append(&words, "e^(%s - L) gives%s; the weights of attention are%s.", x, ours, right);
    show_words(r, 4, words);
    free(ours);
    free(right);
}

/* "Divisions: 1 (fa1 needs 2)." */
static void show_divisions(struct report *r, const struct walk *w, const struct scenario *s)
{
    bool is_fa2 = w->simulation.algorithm == ALGORITHM_FA2;
    const char *name = algorithm_info(is_fa2 ? ALGORITHM_FA1 : ALGORITHM_FA2)->name;
    struct scenario other = walk_by_algorithm(s, name);
    struct walk second;
    struct message ignored;
    report_text(r, "Divisions: %d", w->divisions);
    json_whole(r->json, "divisions", w->divisions);
    if (w->head.Nq * w->head.Nk * w->head.D <= 1 << 16 && walk_new(&second, &other, &ignored)) {
        report_text(r, " (%s needs %d)", name, second.divisions);
        walk_free(&second);
    }
    report_text(r, ".");
}

void show_meaning(struct report *r, const struct walk *w, const struct scenario *s)
{
    const double(*exact)[2];
    if (w->backward)
        show_backward_meaning(r, w);
    if (w->backward)
        return;
    if (w->simulation.is_kernel) { /* its scores may be raw, its L to another base, its groups many */
        report_text(r, "Where the kernel leaves the contracts: flashulp list kernels.\n");
        return;
    }
    show_weights(r, w);
    show_divisions(r, w, s);
    if (walk_last(w, TENSOR_O_ACC, &exact) != NULL && walk_last(w, TENSOR_L_SUM, &exact) != NULL)
        report_text(r, "  Names: l is d in some texts; O~ is unnormalised O.");
    report_text(r, "\n");
    show_warps(r, w);
}
