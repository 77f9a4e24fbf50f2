/* compare_json.c: one finished pair of tensors as JSON. */
#include <math.h>
#include <stdlib.h>

#include "simulator/cli/compare.h"

static void add_pair(struct json *to, const char *key, int64_t got, int64_t want)
{
    struct json *j = json_object(to, key);
    json_whole(j, "got", got);
    json_whole(j, "want", want);
}

static void add_heads(struct json *to, const struct comparison *c)
{
    bool *marks = calloc((size_t)c->heads + 1, sizeof *marks);
    struct json *list = json_list(to, "differ_by_head"), *odd = json_list(to, "odd_heads");
    if (marks == NULL)
        abort();
    compare_odd_heads(c, marks);
    for (int64_t h = 0; h < c->heads; h++) {
        json_whole(list, NULL, c->head_differ[h]);
        if (marks[h])
            json_whole(odd, NULL, h);
    }
    free(marks);
}

static void add_side(struct json *to, const char *key, const struct comparison *c,
                     const struct compare_side *s)
{
    struct json *j = json_object(to, key);
    int64_t averaged = c->elements - s->of_kind;
    json_real(j, "max_ulp", s->max_ulp);
    json_real(j, "mean_signed_ulp", averaged > 0 ? s->sum_ulp / (double)averaged : 0);
    json_whole(j, "correctly_rounded", s->rounded);
    json_whole(j, "different_kind", s->of_kind);
}

static void add_exact(struct json *to, const struct comparison *c)
{
    struct json *j = json_object(to, "exact");
    json_whole(j, "got_nearer", c->nearer[0]);
    json_whole(j, "want_nearer", c->nearer[1]);
    json_whole(j, "equally_far", c->equally_far);
    add_side(j, "got", c, &c->side[0]);
    add_side(j, "want", c, &c->side[1]);
}

static void add_logits(struct json *to, const struct logits *l)
{
    int64_t defined = l->rows - l->undefined;
    struct json *j = json_object(to, "logits"), *flips;
    json_whole(j, "rows", l->rows);
    json_whole(j, "rows_not_established", l->undefined);
    json_whole(j, "top1_flips", l->flips);
    json_whole(j, "ties", l->ties);
    json_real(j, "mean_kl", defined > 0 ? l->sum_divergence / (double)defined : 0);
    json_real(j, "max_kl", l->max_divergence);
    flips = json_list(j, "flips");
    for (int i = 0; i < LOGITS_KEEP && i < l->flips; i++) {
        struct json *flip = json_object(flips, NULL);
        json_whole(flip, "row", l->flip[i].row);
        add_pair(flip, "token", l->flip[i].got, l->flip[i].want);
        add_pair(flip, "margin_ulp", l->flip[i].got_margin, l->flip[i].want_margin);
    }
}

static void add_distances(struct json *to, const struct comparison *c)
{
    struct json *j = json_object(to, "distances");
    double z;
    json_whole(j, "0", c->elements - c->differ);
    json_whole(j, "1", c->one_step);
    json_whole(j, "more", c->differ - c->of_kind - c->one_step);
    json_whole(to, "different_kind", c->of_kind);
    json_whole(to, "zero_signs", c->zero_signs);
    json_real(to, "max_ulp", c->of_kind > 0 ? INFINITY : (double)c->max_steps);
    json_real(to, "mean_signed_ulp", compare_mean(c));
    if (compare_z(c, &z))
        json_real(to, "z", z);
    json_real(to, "min_abs_tolerance", c->least_atol);
    json_real(to, "min_rel_tolerance", c->least_rtol);
}

void compare_json(struct compare_pair *p, struct json *to)
{
    const struct comparison *c = &p->c;
    struct json *shape = json_list(to, "shape");
    for (int i = 0; i < p->got.rank; i++)
        json_whole(shape, NULL, p->got.shape[i]);
    json_string(to, "got_dtype", format_info(p->got.dtype)->name);
    json_string(to, "want_dtype", format_info(p->want.dtype)->name);
    json_string(to, "compared_in", format_info(c->format)->name);
    add_pair(to, "rounded", p->rounded[0], p->rounded[1]);
    json_whole(to, "elements", c->elements);
    json_whole(to, "differ", c->differ);
    json_truth(to, "passes", compare_passes(p->job, c));
    add_distances(to, c);
    add_pair(to, "nan", c->nan[0], c->nan[1]);
    add_pair(to, "infinite", c->infinite[0], c->infinite[1]);
    if (c->heads > 0)
        add_heads(to, c);
    if (compare_base(c) != 0)
        json_string(to, "base_of_logarithms",
                    compare_base(c) > 0 ? "got 2, want e" : "got e, want 2");
    if (p->exact.file != NULL)
        add_exact(to, c);
    if (p->logits)
        add_logits(to, &p->l);
}
