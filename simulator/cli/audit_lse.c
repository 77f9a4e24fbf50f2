/* audit_lse.c (cli): measured logarithms of the sums, in words and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/cli/audit.h"
#include "simulator/scenario_parts.h"

/* "[0,3,17]": batch, query head and row of selected row i. */
static struct audit_place row_place(const struct audit *a, int64_t i)
{
    struct audit_place place;
    struct head h = problem_head(&a->in.problem, a->selection.unit[i]);
    snprintf(place.text, sizeof place.text, "[%lld,%lld,%lld]", (long long)h.batch,
             (long long)h.head, (long long)(h.q0 + a->selection.row[i]));
    return place;
}

/* What the stored numbers are, where they are not what they should be. */
static void say_reading(char **words, const struct audit_lse *l)
{
    if (!l->fits)
        text_append(words, "it is the LSE of these scores in no base and reading that was tried");
    else if (l->reading == READ_AS_GIVEN)
        text_append(words, l->fits_base_2
                               ? "this LSE is in base 2: multiplied by ln 2 it matches; a merge "
                                 "that takes it for natural is wrong"
                               : "this LSE is natural, though the file says base 2");
    else
        text_append(words, "it is the %s LSE of Q, K read %s",
                    l->fits_base_2 ? "base-2" : "natural", reading_words(l->reading));
}

static void say_one(char **words, const struct audit *a, const struct audit_lse *l)
{
    int64_t wrong = audit_lse_wrong(l), finite = l->rows - l->of_kind - l->plus_infinity;
    if (l->base_2)
        text_append(words, "to base 2, as the file says: times ln 2 ");
    if (wrong == 0)
        text_append(words, "at most %.3g ulp of %s off, mean %+.3g, all inside the bound",
                    l->max_ulp, format_info(l->format)->name,
                    finite > 0 ? l->sum_ulp / (double)finite : 0);
    if (wrong == 0 && !l->base_2) /* a product by ln 2 is no number of the format */
        text_append(words, ", %.1f %% correctly rounded",
                    100.0 * (double)l->rounded / (double)l->rows);
    if (wrong > 0)
        text_append(words, "%s of %s rows outside the bound, first at %s, %s; ",
                    grouped(wrong).text, grouped(l->rows).text, row_place(a, l->first).text,
                    number_text(l->format, l->stored[l->first]).text);
    if (wrong > 0)
        say_reading(words, l);
    if (l->plus_infinity > 0)
        text_append(words,
                    "; +inf for %s rows that see no key, as FlashAttention-2 stores it: in a "
                    "merge it is wrong, -inf is right",
                    grouped(l->plus_infinity).text);
}

void audit_say_lse(struct report *r, const struct audit *a)
{
    for (int n = 0; n < a->runs; n++) {
        const struct audit_lse *l = &a->run[n].lse;
        char *words = NULL;
        if (l->stored == NULL)
            continue;
        text_append(&words, "LSE of %s: ", a->run[n].name);
        say_one(&words, a, l);
        text_append(&r->text, " ");
        text_wrapped(&r->text, 1, 2, words);
        free(words);
    }
}

void audit_json_lse(struct json *to, const struct audit *a, const struct audit_lse *l)
{
    if (l->stored == NULL)
        return;
    int64_t finite = l->rows - l->of_kind - l->plus_infinity;
    struct json *j = json_object(to, "lse");
    json_whole(j, "rows", l->rows);
    json_string(j, "format", format_info(l->format)->name);
    json_string(j, "base", l->base_2 || (l->fits && l->fits_base_2) ? "2" : "e");
    json_truth(j, "base_in_file", l->base_given);
    json_real(j, "max_ulp", l->of_kind > 0 ? INFINITY : l->max_ulp);
    json_real(j, "mean_signed_ulp", finite > 0 ? l->sum_ulp / (double)finite : 0);
    json_whole(j, "correctly_rounded", l->rounded);
    json_whole(j, "inside_bound", l->rows - audit_lse_wrong(l));
    json_whole(j, "different_kind", l->of_kind);
    json_whole(j, "plus_infinity_without_keys", l->plus_infinity);
    if (l->first >= 0)
        json_string(j, "first_outside", row_place(a, l->first).text);
    if (audit_lse_wrong(l) > 0)
        json_string(j, "reading", l->fits ? reading_words(l->reading) : "none");
}
