/* lanes_trace.c: what lanes.c kept, with its files and lines, as chunks of a trace. */
#include <stdlib.h>
#include <string.h>

#include "gpu/emulator/lanes.h"
#include "gpu/emulator/origins.h"

/* The different origins of everything kept, ascending, and their sites. */
struct places {
    uint64_t *origin;
    struct cuemu_site *site;
    size_t count;
};

/* Names, each once. */
struct name_list {
    const char **name;
    size_t count;
};

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool find_places(const struct kept_lanes *k, struct places *p)
{
    size_t all = k->accesses + 2 * k->findings, count = 0;
    p->origin = calloc(all + 1, sizeof *p->origin);
    if (p->origin == NULL)
        return false;
    for (size_t n = 0; n < k->accesses; n++)
        p->origin[count++] = k->access[n].from;
    for (size_t n = 0; n < k->findings; n++) {
        p->origin[count++] = k->finding[n].from;
        p->origin[count++] = k->finding[n].other_from;
    }
    qsort(p->origin, count, sizeof *p->origin, by_value);
    for (size_t n = 0; n < count; n++)
        if (n == 0 || p->origin[n] != p->origin[n - 1])
            p->origin[p->count++] = p->origin[n];
    p->site = calloc(p->count + 1, sizeof *p->site);
    if (p->site != NULL)
        sites_of_origins(p->origin, (int)p->count, p->site);
    return p->site != NULL;
}

static size_t place_of(const struct places *p, uint64_t from)
{
    const uint64_t *at = bsearch(&from, p->origin, p->count, sizeof *p->origin, by_value);
    return (size_t)(at - p->origin);
}

static uint32_t name_number(struct name_list *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->name[i] == name || strcmp(l->name[i], name) == 0)
            return (uint32_t)i;
    l->name[l->count++] = name;
    return (uint32_t)(l->count - 1);
}

static void set_line(struct name_list *l, struct cuemu_site at, uint32_t *file, uint32_t *line)
{
    if (at.line == 0)
        return;
    *file = name_number(l, at.file);
    *line = (uint32_t)at.line;
}

static bool set_lanes(struct trace *t, const struct kept_lanes *k, const struct places *p,
                      struct name_list *l)
{
    struct lane_access *access = calloc(k->accesses + 1, sizeof *access);
    for (size_t n = 0; access != NULL && n < k->accesses; n++) {
        size_t place = place_of(p, k->access[n].from);
        access[n] = k->access[n].access;
        access[n].instruction = (uint32_t)place + 1;
        set_line(l, p->site[place], &access[n].file, &access[n].line);
    }
    bool ok = access != NULL && trace_set_lanes(t, access, k->accesses, l->name, l->count);
    free(access);
    return ok;
}

static void set_finding(struct sync_finding *to, const struct kept_finding *k,
                        const struct places *p, struct name_list *l)
{
    *to = k->finding;
    to->meaning = name_number(l, emulator_fault_meaning(k->fault));
    set_line(l, p->site[place_of(p, k->from)], &to->file, &to->line);
    set_line(l, p->site[place_of(p, k->other_from)], &to->other_file, &to->other_line);
}

static bool set_sync(struct trace *t, const struct kept_lanes *k, const struct places *p,
                     struct name_list *l)
{
    struct sync_wait *wait = calloc(k->waits + 1, sizeof *wait);
    struct sync_finding *finding = calloc(k->findings + 1, sizeof *finding);
    bool ok = wait != NULL && finding != NULL;
    for (size_t n = 0; ok && n < k->waits; n++) {
        wait[n] = k->wait[n].wait;
        set_line(l, k->wait[n].at, &wait[n].file, &wait[n].line);
    }
    for (size_t n = 0; ok && n < k->findings; n++)
        set_finding(&finding[n], &k->finding[n], p, l);
    ok = ok && trace_set_sync(t, wait, k->waits, finding, k->findings, l->name, l->count);
    free(wait);
    free(finding);
    return ok;
}

bool emulator_lanes(struct trace *t)
{
    const struct kept_lanes *k = lanes_kept();
    struct places p = {0};
    bool ok = find_places(k, &p);
    /* Every name is a place's, a barrier's or a fault's. */
    size_t most = p.count + k->waits + EMULATOR_FAULTS + 1;
    struct name_list lanes = {calloc(most, sizeof(char *)), 0};
    struct name_list sync = {calloc(most, sizeof(char *)), 0};
    ok = ok && lanes.name != NULL && sync.name != NULL && set_lanes(t, k, &p, &lanes) &&
         set_sync(t, k, &p, &sync);
    free(lanes.name);
    free(sync.name);
    free(p.origin);
    free(p.site);
    return ok;
}
