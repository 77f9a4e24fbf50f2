/* audit_range.c: how far apart runs can lie, over the settings of what is not established.

   A setting is a run's name with more changes: "triton-decode@H200+division=ieee+special=poly".
   special=poly stands for a GPU's own exp, of which only a bound is known.  What the user set
   stays as it is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/audit_parts.h"
#include "simulator/scenario_parts.h"

/* Multiplications, and outputs kept: a quarter of a minute, 256 MB. */
static const double MOST_WORK = 0x1p32, MOST_KEPT = 0x1p24;

enum { MOST_SWITCHES = 4 };
static const char EXP[] = "special=poly";

/* What of a run may be set otherwise: a switch's values are 0 .. count - 1, 0 as it is. */
struct open_switches {
    int count, values[MOST_SWITCHES];
    enum kernel_option option[MOST_SWITCHES]; /* KERNEL_OPTION_COUNT: exp */
};

struct setting {
    int run, code; /* code: digits of the values, the first switch the lowest; 0: as it is */
    double *O, *before;
};

static int count_values(const char *values)
{
    int count = 1;
    for (; *values != 0; values++)
        count += *values == ' ';
    return count;
}

/* Did the user choose it, in the run's name or for all runs? */
static bool is_set(const struct audit *a, const struct audit_run *run, const char *name)
{
    char text[64];
    const char *all = a->scenario->value[OPTION_SWITCH];
    snprintf(text, sizeof text, "%s=", name);
    return strstr(run->name, text) != NULL || (all != NULL && strstr(all, text) != NULL);
}

static struct open_switches switches_of(const struct audit *a, const struct audit_run *run,
                                        char *names, size_t room)
{
    struct open_switches s = {0};
    names[0] = 0;
    if (run->measured || !run->simulation.is_kernel)
        return s;
    for (int o = 0; o < KERNEL_OPTION_COUNT && s.count < MOST_SWITCHES - 1; o++) {
        const struct kernel_option_info *info = kernel_option_info((enum kernel_option)o);
        if (!kernel_option_open(&run->simulation.kernel, (enum kernel_option)o) ||
            is_set(a, run, info->name))
            continue;
        s.values[s.count] = count_values(info->values);
        s.option[s.count++] = (enum kernel_option)o;
        snprintf(names + strlen(names), room - strlen(names), "%s, ", info->name);
    }
    if (run->simulation.policy.special.how == SPECIAL_CR && !is_set(a, run, "special")) {
        s.values[s.count] = 2;
        s.option[s.count++] = KERNEL_OPTION_COUNT;
        snprintf(names + strlen(names), room - strlen(names), "exp, ");
    }
    if (names[0] != 0)
        names[strlen(names) - 2] = 0;
    return s;
}

static int digit(const struct open_switches *s, int code, int place)
{
    for (int i = 0; i < place; i++)
        code /= s->values[i];
    return code % s->values[place];
}

/* All settings, or only those with one switch moved. */
static bool is_taken(const struct open_switches *s, int code, bool all)
{
    int moved = 0;
    for (int i = 0; i < s->count; i++)
        moved += digit(s, code, i) > 0;
    return moved > 0 && (all || moved == 1);
}

static int codes_of(const struct open_switches *s)
{
    int codes = 1;
    for (int i = 0; i < s->count; i++)
        codes *= s->values[i];
    return codes;
}

/* "+division=ieee+special=poly" */
static void name_setting(char **name, const struct open_switches *s, int code)
{
    for (int i = 0; i < s->count; i++) {
        int value = digit(s, code, i);
        if (value == 0)
            continue;
        if (s->option[i] == KERNEL_OPTION_COUNT) {
            text_append(name, "+%s", EXP);
            continue;
        }
        const struct kernel_option_info *info = kernel_option_info(s->option[i]);
        const char *at = info->values;
        for (int n = 0; n < value; n++)
            at += strcspn(at, " ") + 1;
        text_append(name, "+%s=%.*s", info->name, (int)strcspn(at, " "), at);
    }
}

static bool make_setting(struct audit *a, int n, const struct open_switches *s, int code,
                         struct setting *to, struct message *why)
{
    struct audit_run run = {0};
    text_append(&run.name, "%s", a->run[n].name);
    name_setting(&run.name, s, code);
    text_append(&run.groups, "%s", "");
    text_append(&run.remarks, "%s", "");
    bool ok = audit_model(a, &run, why) && audit_simulate(a, &run, why);
    *to = (struct setting){n, code, run.O, run.before};
    run.O = run.before = NULL;
    audit_run_free(&run);
    if (!ok) {
        free(to->O);
        free(to->before);
    }
    return ok;
}

static double apart(const struct audit *a, const double *unit, const double *x, const double *y,
                    double *to_exact)
{
    struct map m;
    const double *const runs[2] = {x, y};
    map_measure(&m, 2, runs, (const double(*)[2])a->truth, unit, audit_elements(a));
    *to_exact = m.to_exact[0];
    return m.apart[0][1];
}

static const double *values_of(const struct audit *a, const struct setting *s, int part)
{
    const struct audit_run *run = &a->run[s->run];
    const double *O = s->O != NULL ? s->O : run->O,
                 *before = s->O != NULL ? s->before : run->before;
    return part == 0 ? O : before;
}

static void widen(double *low, double *high, double x)
{
    *low = fmin(*low, x);
    *high = fmax(*high, x);
}

/* Two settings side by side, unless they are of one kernel and not the same. */
static void compare(const struct audit *a, const double *unit, const struct setting *x,
                    const struct setting *y, int part, struct audit_map *m)
{
    struct audit_range *r = &m->range[part];
    const struct audit_run *one = &a->run[x->run], *two = &a->run[y->run];
    bool alike = strcmp(one->what, two->what) == 0 && strcmp(m->open[x->run], m->open[y->run]) == 0;
    double to_exact;
    if (alike && !one->measured && !two->measured && x->code != y->code)
        return;
    double d = apart(a, unit, values_of(a, x, part), values_of(a, y, part), &to_exact);
    widen(&r->low[x->run][y->run], &r->high[x->run][y->run], d);
    r->low[y->run][x->run] = r->low[x->run][y->run];
    r->high[y->run][x->run] = r->high[x->run][y->run];
    widen(&r->exact_low[x->run], &r->exact_high[x->run], to_exact);
}

/* Where the settings other than the runs' own lie in the plane. */
static void place(const struct audit *a, const double *unit, const struct setting *s, int part,
                  struct audit_map *m, double *point)
{
    const struct map *map = part == 0 ? &m->stored : &m->before;
    double to_runs[MAP_MOST], ignored;
    for (int i = 0; i < a->runs; i++) {
        struct setting own = {i, 0, NULL, NULL};
        to_runs[i] = apart(a, unit, values_of(a, s, part), values_of(a, &own, part), &ignored);
    }
    map_place(map, to_runs, &point[0], &point[1]);
}

static void measure_part(const struct audit *a, const double *unit, const struct setting *all,
                         int count, int part, struct audit_map *m)
{
    const struct map *map = part == 0 ? &m->stored : &m->before;
    struct audit_range *r = &m->range[part];
    memcpy(r->low, map->apart, sizeof r->low);
    memcpy(r->high, map->apart, sizeof r->high);
    memcpy(r->exact_low, map->to_exact, sizeof r->exact_low);
    memcpy(r->exact_high, map->to_exact, sizeof r->exact_high);
    for (int x = 0; x < count; x++) {
        for (int y = 0; y < count; y++)
            if (all[x].run != all[y].run && (all[x].O != NULL || all[y].O != NULL))
                compare(a, unit, &all[x], &all[y], part, m);
        if (all[x].O == NULL)
            continue;
        m->point_run[m->points] = all[x].run;
        place(a, unit, &all[x], part, m, m->point[part][m->points++]);
    }
}

/* How many settings there are, and whether all are made, each switch alone, or none. */
static bool plan(const struct audit *a, const struct open_switches *open, bool *all)
{
    const struct problem *p = &a->in.problem;
    double work = 2.0 * (double)p->B * (double)p->Hq * (double)p->Nq * (double)p->Nk * (double)p->D;
    for (int way = 0; way < 2; way++) {
        int count = 0;
        *all = way == 0;
        for (int n = 0; n < a->runs; n++)
            for (int code = 1; code < codes_of(&open[n]); code++)
                count += is_taken(&open[n], code, *all);
        if (count <= AUDIT_MOST_SETTINGS && count * work <= MOST_WORK &&
            (double)count * (double)audit_elements(a) <= MOST_KEPT)
            return true;
    }
    return false;
}

bool audit_ranges(struct audit *a, const double *unit, struct audit_map *m, struct message *why)
{
    struct open_switches open[AUDIT_MOST_RUNS];
    struct setting all[AUDIT_MOST_RUNS + AUDIT_MOST_SETTINGS] = {{0}};
    int count = a->runs;
    bool every, ok = true;
    for (int n = 0; n < a->runs; n++) {
        open[n] = switches_of(a, &a->run[n], m->open[n], sizeof m->open[n]);
        all[n].run = n;
        m->settings[n] = 1;
    }
    m->not_tried = !plan(a, open, &every);
    for (int n = 0; n < a->runs && !m->not_tried; n++)
        for (int code = 1; ok && code < codes_of(&open[n]); code++)
            if (is_taken(&open[n], code, every)) {
                ok = make_setting(a, n, &open[n], code, &all[count], why);
                count += ok;
                m->settings[n] += ok;
            }
    for (int part = 0; ok && part < 1 + m->has_before; part++) {
        m->points = 0;
        measure_part(a, unit, all, count, part, m);
    }
    for (int i = a->runs; i < count; i++) {
        free(all[i].O);
        free(all[i].before);
    }
    return ok;
}
