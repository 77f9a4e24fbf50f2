/* lift.c: one call, repeated without rounding on exact copies of its operands. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/lift.h"

enum { DST, A, B, C };

void lift_new(struct lift *l, const struct arithmetic *arith, int precision,
              const struct policy *policy)
{
    struct message unused;
    memset(l, 0, sizeof *l);
    l->exact_policy = policy_all_exact(policy);
    l->argument_policy = *policy;
    run_new(&l->exact, arith, &l->exact_policy, precision, &unused);
    run_new(&l->argument, arith, &l->argument_policy, precision, &unused);
}

static struct run *run_of(struct lift *l, int which)
{
    return which == 0 ? &l->exact : &l->argument;
}

void lift_free(struct lift *l)
{
    for (int which = 0; which < 2; which++) {
        for (int k = 0; k < 4; k++) {
            if (l->tile[which][k].data != NULL)
                l->exact.arith->element_free(l->tile[which][k].data, l->room[which][k]);
            free(l->tile[which][k].lo);
        }
    }
    run_free(&l->exact);
    run_free(&l->argument);
}

/* Room in copy `k` for a tile like `from`. */
static void lift_room(struct lift *l, int which, int k, const struct tile *from)
{
    struct tile *t = &l->tile[which][k];
    size_t n = (size_t)from->rows * from->cols, rows = (size_t)from->rows;
    if (n > l->room[which][k]) {
        if (t->data != NULL)
            l->exact.arith->element_free(t->data, l->room[which][k]);
        t->data = l->exact.arith->element_new(run_of(l, which), n);
        l->room[which][k] = n;
    }
    if (rows > l->row_room[which][k] || t->lo == NULL) {
        free(t->lo);
        t->lo = calloc(2 * rows + 1, sizeof *t->lo);
        if (t->lo == NULL)
            abort();
        l->row_room[which][k] = rows;
    }
}

/* Makes copy `k` hold exactly what `from` holds (to a double, where a wider run is lifted into the
   double arithmetic). */
static struct tile *lift_tile(struct lift *l, int which, int k, const struct run *r,
                              const struct tile *from)
{
    struct tile *t = &l->tile[which][k];
    size_t n = (size_t)from->rows * from->cols;
    bool same_type = r->arith == l->exact.arith;
    lift_room(l, which, k, from);
    t->rows = from->rows;
    t->cols = from->cols;
    t->hi = t->lo + from->rows;
    t->masked = from->masked;
    memcpy(t->lo, from->lo, sizeof *t->lo * (size_t)from->rows);
    memcpy(t->hi, from->hi, sizeof *t->hi * (size_t)from->rows);
    for (size_t i = 0; i < n; i++) {
        if (same_type)
            r->arith->move(t->data, i, from->data, i);
        else
            l->exact.arith->set(t->data, i, r->arith->get(from->data, i));
    }
    return t;
}

static bool two_sites(const struct run *r, const struct call *c)
{
    return c->arg_site != SITE_NONE && r->policy->site[c->arg_site].format != FORMAT_EXACT;
}

void lift_operands(struct lift *l, const struct run *r, const struct call *c)
{
    int copies = two_sites(r, c) ? 2 : 1;
    for (int which = 0; which < copies; which++) {
        lift_tile(l, which, DST, r, c->dst);
        const struct tile *operand[3] = {c->a, c->b, c->c};
        for (int k = 0; k < 3; k++)
            if (operand[k] != NULL && operand[k] != c->dst)
                lift_tile(l, which, A + k, r, operand[k]);
    }
}

/* The call with its tiles replaced by the copies. */
static struct call lifted(struct lift *l, int which, const struct call *c)
{
    struct call copy = *c;
    copy.dst = &l->tile[which][DST];
    copy.a = c->a == NULL ? NULL : c->a == c->dst ? copy.dst : &l->tile[which][A];
    copy.b = c->b == NULL ? NULL : c->b == c->dst ? copy.dst : &l->tile[which][B];
    copy.c = c->c == NULL ? NULL : c->c == c->dst ? copy.dst : &l->tile[which][C];
    return copy;
}

/* x - y for two elements held as sums of two doubles. */
static double difference(const double x[2], const double y[2], bool *finite)
{
    if (!isfinite(x[0]) || !isfinite(y[0])) {
        bool same = x[0] == y[0] || (isnan(x[0]) && isnan(y[0]));
        *finite = *finite && same;
        return 0;
    }
    return (x[0] - y[0]) + (x[1] - y[1]);
}

void lift_errors(struct lift *l, const struct run *r, const struct call *c, double *error_arg,
                 double *error, bool *finite)
{
    size_t n = (size_t)c->dst->rows * c->dst->cols;
    bool two = two_sites(r, c);
    struct call exact = lifted(l, 0, c), argument = lifted(l, 1, c);
    perform_plain(&l->exact, &exact);
    if (two) {
        l->argument_policy.site[c->arg_site] = r->policy->site[c->arg_site];
        l->argument_policy.site[c->site].format = FORMAT_EXACT;
        perform_plain(&l->argument, &argument);
    }
    *finite = true;
    for (size_t i = 0; i < n; i++) {
        double got[2], want[2], middle[2];
        r->arith->get_wide(c->dst->data, i, got);
        l->exact.arith->get_wide(exact.dst->data, i, want);
        if (two)
            l->exact.arith->get_wide(argument.dst->data, i, middle);
        else
            memcpy(middle, want, sizeof middle);
        error[i] = difference(got, middle, finite);
        if (error_arg != NULL)
            error_arg[i] = difference(middle, want, finite);
    }
}
