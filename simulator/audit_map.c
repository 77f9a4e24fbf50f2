/* audit_map.c: the runs of an audit as points of a map. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/audit_parts.h"

/* Kernels number themselves by their first run; a measured output is one of its own. */
static void kinds_of(const struct audit *a, bool plain, int *kind)
{
    for (int n = 0; n < a->runs; n++) {
        kind[n] = n;
        for (int m = 0; m < n && !plain && !a->run[n].measured; m++)
            if (!a->run[m].measured && strcmp(a->run[m].what, a->run[n].what) == 0) {
                kind[n] = m;
                break;
            }
    }
}

/* A kernel's model leaves open how the hardware computes exp, log and reciprocals, and its switches
   stand for what is not known; a listing leaves nothing open. */
static bool leaves_open(const struct audit_run *run)
{
    return !run->measured && run->simulation.is_kernel &&
           run->simulation.policy.special.how == SPECIAL_CR;
}

static void find_doubts(const struct audit *a, struct audit_map *m)
{
    for (int i = 0; i < a->runs; i++)
        for (int j = 0; j < i; j++) {
            const struct audit_run *one = &a->run[i], *two = &a->run[j];
            bool models = !one->measured && !two->measured;
            bool alike = audit_pair(a, i, j).differ == 0,
                 open = leaves_open(one) || leaves_open(two);
            bool may_be = m->range[0].low[i][j] == 0 && m->range[0].high[i][j] > 0;
            m->cannot_tell[i][j] = m->cannot_tell[j][i] = models && ((open && alike) || may_be);
        }
}

static void measure(const struct audit *a, struct map *m, const double *const *runs,
                    const double *unit, const int *kind)
{
    map_measure(m, a->runs, runs, (const double(*)[2])a->truth, unit, audit_elements(a));
    map_weights(m, kind);
    map_finish(m);
}

/* u A of every element; NULL: no memory. */
static double *units_of(const struct audit *a)
{
    double u = ldexp(1.0, -format_info(a->format[0])->precision);
    double *unit = malloc(((size_t)audit_elements(a) + 1) * sizeof *unit);
    for (int64_t i = 0; unit != NULL && i < audit_elements(a); i++)
        unit[i] = u * a->A[i];
    return unit;
}

static void measure_all(const struct audit *a, struct audit_map *m, bool plain, const double *unit)
{
    const double *stored[AUDIT_MOST_RUNS], *before[AUDIT_MOST_RUNS];
    int kind[AUDIT_MOST_RUNS];
    m->has_before = true;
    for (int n = 0; n < a->runs; n++) {
        stored[n] = a->run[n].O;
        before[n] = a->run[n].before;
        m->has_before = m->has_before && before[n] != NULL;
    }
    kinds_of(a, plain, kind);
    measure(a, &m->stored, stored, unit, kind);
    if (m->has_before)
        measure(a, &m->before, before, unit, kind);
}

static bool map_runs(struct audit *a, struct audit_map *m, bool settings, struct message *why)
{
    _Static_assert(sizeof(struct truth) == sizeof(double[2]), "a true value is two doubles");
    _Static_assert((int)AUDIT_MOST_RUNS == (int)MAP_MOST, "every run has a place");
    const char *centre = a->scenario->value[OPTION_CENTRE];
    bool plain = centre != NULL && strcmp(centre, "runs") == 0;
    if (centre != NULL && !plain && strcmp(centre, "kernels") != 0)
        return refuse(why, "--centre %.40s: kernels or runs is right", centre);
    double *unit = units_of(a);
    if (unit == NULL)
        return refuse(why, "no memory");
    measure_all(a, m, plain, unit);
    bool ok = !settings || audit_ranges(a, unit, m, why);
    if (ok)
        find_doubts(a, m);
    free(unit);
    return ok;
}

bool audit_points(struct audit *a, struct audit_map *m, struct message *why)
{
    return map_runs(a, m, false, why);
}

bool audit_map(struct audit *a, struct audit_map *m, struct message *why)
{
    return map_runs(a, m, true, why);
}
