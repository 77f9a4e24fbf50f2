/* ledger.c: record and replay.  An entry is one call's errors at one site. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/ledger.h"
#include "simulator/lift.h"

struct entry {
    uint32_t call;  /* number of the call, among those that round */
    uint16_t verb;
    uint16_t site;
    uint32_t count; /* elements */
    size_t first;   /* into errors; all-zero entries are not stored */
};

struct ledger {
    struct entry *entries;
    size_t count, room, next;
    double *errors;
    size_t error_count, error_room;
    unsigned char *decisions;
    size_t decision_count, decision_room, next_decision;
    uint32_t calls, call; /* recorded; reached by the replay */
    int64_t first_nonfinite;
    enum site nonfinite_site;
    bool replaying;
    uint64_t sites;
    struct lift lift;
    bool lifting;
};

static void *grow(void *memory, size_t *room, size_t wanted, size_t element)
{
    if (wanted <= *room)
        return memory;
    *room = wanted > 2 * *room ? wanted : 2 * *room;
    memory = realloc(memory, *room * element);
    if (memory == NULL)
        abort();
    return memory;
}

struct ledger *ledger_new(void)
{
    struct ledger *l = calloc(1, sizeof *l);
    if (l == NULL)
        abort();
    l->first_nonfinite = -1;
    l->nonfinite_site = SITE_NONE;
    return l;
}

void ledger_free(struct ledger *l)
{
    if (l->lifting)
        lift_free(&l->lift);
    free(l->entries);
    free(l->errors);
    free(l->decisions);
    free(l);
}

size_t ledger_bytes(const struct ledger *l)
{
    return l->count * sizeof *l->entries + l->error_count * sizeof *l->errors + l->decision_count;
}

int64_t ledger_first_nonfinite(const struct ledger *l)
{
    return l->first_nonfinite;
}

enum site ledger_nonfinite_site(const struct ledger *l)
{
    return l->nonfinite_site;
}

uint64_t ledger_sites(const struct ledger *l)
{
    uint64_t sites = 0;
    for (size_t i = 0; i < l->count; i++)
        sites |= UINT64_C(1) << l->entries[i].site;
    return sites;
}

/* Logs errors unless all are zero. */
static void ledger_log(struct ledger *l, const struct call *c, enum site site, const double *error)
{
    size_t n = (size_t)c->dst->rows * c->dst->cols, i = 0;
    while (i < n && error[i] == 0)
        i++;
    if (i == n)
        return;
    l->entries = grow(l->entries, &l->room, l->count + 1, sizeof *l->entries);
    l->errors = grow(l->errors, &l->error_room, l->error_count + n, sizeof *l->errors);
    memcpy(l->errors + l->error_count, error, n * sizeof *error);
    l->entries[l->count++] = (struct entry){l->calls, (uint16_t)c->verb, (uint16_t)site,
                                            (uint32_t)n, l->error_count};
    l->error_count += n;
}

static void perform_record(struct run *r, const struct call *c)
{
    struct ledger *l = r->ledger;
    if (c->site == SITE_NONE) {
        perform_plain(r, c);
        return;
    }
    size_t n = (size_t)c->dst->rows * c->dst->cols;
    double *error = calloc(2 * n + 1, sizeof *error);
    if (error == NULL)
        abort();
    bool finite;
    lift_operands(&l->lift, r, c);
    perform_plain(r, c);
    lift_errors(&l->lift, r, c, error + n, error, &finite);
    if (!finite && l->first_nonfinite < 0) {
        l->first_nonfinite = l->calls;
        l->nonfinite_site = c->site;
    }
    if (c->arg_site != SITE_NONE)
        ledger_log(l, c, c->arg_site, error + n);
    ledger_log(l, c, c->site, error);
    l->calls++;
    free(error);
}

/* Adds the logged errors of this call's chosen sites to its exact result. */
static void perform_replay(struct run *r, const struct call *c)
{
    struct ledger *l = r->ledger;
    perform_plain(r, c);
    if (c->site == SITE_NONE)
        return;
    for (; l->next < l->count && l->entries[l->next].call == l->call; l->next++) {
        const struct entry *e = &l->entries[l->next];
        assert(e->verb == c->verb && e->count == (uint32_t)(c->dst->rows * c->dst->cols));
        if (!(l->sites >> e->site & 1))
            continue;
        for (uint32_t i = 0; i < e->count; i++)
            r->arith->add(c->dst->data, i, l->errors[e->first + i]);
    }
    l->call++;
}

void ledger_record(struct ledger *l, struct run *r, const struct arithmetic *exact, int precision)
{
    lift_new(&l->lift, exact, precision, r->policy);
    l->lifting = true;
    l->replaying = false;
    r->ledger = l;
    r->perform = perform_record;
}

void ledger_replay(struct ledger *l, struct run *r, uint64_t sites)
{
    l->replaying = true;
    l->sites = sites;
    l->next = 0;
    l->call = 0;
    l->next_decision = 0;
    r->ledger = l;
    r->perform = perform_replay;
}

bool ledger_finished(const struct ledger *l)
{
    return l->call == l->calls && l->next == l->count;
}

bool ledger_replays(const struct ledger *l)
{
    return l->replaying;
}

void ledger_decide(struct ledger *l, bool decision)
{
    l->decisions = grow(l->decisions, &l->decision_room, l->decision_count + 1, 1);
    l->decisions[l->decision_count++] = decision;
}

bool ledger_decision(struct ledger *l)
{
    assert(l->next_decision < l->decision_count);
    return l->decisions[l->next_decision++];
}
