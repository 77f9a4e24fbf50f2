/* walk_back.c: what a backward walk comes to: dQ of its row, dK and dV of the first key that the
   row sees, against the certified gradients; what dS sums to; where to go from here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/certified_gradients.h"
#include "simulator/cli/walk_parts.h"
#include "simulator/scenario_parts.h"

/* One gradient beside what it should be. */
struct gradient_row {
    enum gradient which;
    enum tensor_name tensor;
    const char *name;
    int64_t head, row; /* of the group; of the head */
};

/* The last value the trace has of the array's row. */
static double last_value(const struct walk *w, const struct gradient_row *g, int64_t d)
{
    for (size_t n = trace_count(w->trace); n-- > 0;) {
        const struct event *e = trace_event(w->trace, n);
        int first, count;
        bool whole = n >= w->ends || g->which == GRADIENT_Q;
        if (e->tensor != (uint32_t)g->tensor || !whole || !walk_concerns(w, n, &first, &count))
            continue;
        int64_t row = g->which == GRADIENT_Q ? first : g->row;
        return trace_values(w->trace, n)[row * w->head.D + d];
    }
    return NAN;
}

static void say_gradient(struct report *r, const struct walk *w, struct json *list,
                         struct certified_gradients *c, const struct gradient_row *g)
{
    int64_t d = w->selection.dim[0];
    const struct format_info *f = format_info(w->format);
    double value = last_value(w, g, d);
    struct certified proof;
    char *words = NULL, *digits;
    certified_init(&proof);
    double rounded = certified_gradient_round(c, g->which, g->head, g->row, d, w->format, &proof);
    digits = certified_gradient_digits(c, g->which, g->head, g->row, d, 20, &proof);
    unsigned long long got = format_encode(w->format, value);
    bool right = got == format_encode(w->format, rounded);
    text_append(&words, "%s[%lld%s", g->name, (long long)g->row, w->head.D > 1 ? "," : "");
    if (w->head.D > 1)
        text_append(&words, "%lld", (long long)d);
    text_append(&words, "] = %s = 0x%0*llX, %sthe %s nearest the exact %s%s",
                walk_number(value, 0, 16).text, f->bits / 4, got, right ? "" : "not ",
                format_noun(w->format), digits, proof.decided ? "" : " (undecided)");
    if (!right)
        text_append(&words, "; that is %s", walk_number(rounded, 0, 16).text);
    show_words(r, 4, words);
    struct json *j = json_object(list, NULL);
    json_string(j, "tensor", g->name);
    json_whole(j, "row", g->row);
    json_real(j, "value", value);
    json_string(j, "exact", digits);
    json_truth(j, "correctly_rounded", right);
    free(digits);
    certified_clear(&proof);
}

void show_backward_answer(struct report *r, const struct walk *w)
{
    const struct problem *p = &w->input.problem;
    int64_t G = p->Hq / p->Hkv, unit = w->selection.unit[0], key = 0;
    struct gradient_row rows[] = {{GRADIENT_Q, TENSOR_DQ, "dQ", unit % G, w->row},
                                  {GRADIENT_K, TENSOR_DK, "dK", 0, 0},
                                  {GRADIENT_V, TENSOR_DV, "dV", 0, 0}};
    struct json *list = json_list(r->json, "answers");
    if (w->selection.dims == 0)
        return;
    while (key < w->head.Nk && !sees(&w->head, w->row, key))
        key++;
    struct certified_gradients *c = certified_gradients_new(p, unit / G, &w->given.dO);
    for (int n = 0; n < 3; n++) {
        rows[n].row = n == 0 ? w->row : key;
        if (n == 0 || key < w->head.Nk)
            say_gradient(r, w, list, c, &rows[n]);
    }
    certified_gradients_free(c);
}

void show_backward_meaning(struct report *r, const struct walk *w)
{
    const double(*exact)[2];
    const double *z = walk_last(w, TENSOR_DS_SUM, &exact);
    char *words = NULL;
    if (z != NULL && w->input.problem.softcap == 0 && !w->simulation.is_kernel)
        text_append(&words,
                    "sum dS over the keys is %s here and 0 without rounding: D takes off what "
                    "normalising did.  ",
                    walk_number(z[0], 0, 12).text);
    text_append(&words, "The weights came from L alone: no maximum, no sum, no division.");
    show_words(r, 0, words);
    show_warps(r, w);
}
