/* identify_space.c: the bases and the changes: every kernel on every device, the listings, the rows
   of alter.def, the kernels' switches and the ways to cut the keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/identify_parts.h"
#include "simulator/mma.h"
#include "simulator/scenario_parts.h"

static void *more(void *list, int count, size_t size)
{
    list = realloc(list, ((size_t)count + 1) * size);
    if (list == NULL)
        abort(); /* no memory for a name */
    return list;
}

static struct base *add_base(struct identify_space *space)
{
    space->base = more(space->base, space->bases, sizeof *space->base);
    struct base *base = &space->base[space->bases++];
    *base = (struct base){.kernel = KERNEL_COUNT};
    text_append(&base->devices, "%s", "");
    return base;
}

static struct change *add_change(struct identify_space *space)
{
    space->change = more(space->change, space->changes, sizeof *space->change);
    struct change *change = &space->change[space->changes++];
    *change = (struct change){.kernel = KERNEL_COUNT};
    return change;
}

/* ---- kernels ---- */

static bool same_order(const struct order *x, const struct order *y)
{
    if (x->kind != y->kind || x->kind != ORDER_MMA)
        return x->kind == y->kind && strcmp(order_text(x), order_text(y)) == 0;
    const struct mma_info *p = x->mma->info, *q = y->mma->info;
    return p->L == q->L && p->F == q->F && p->fraction == q->fraction && p->e_zero == q->e_zero;
}

/* Do two runs of a kernel group the keys alike? */
static bool same_groups(const struct audit_run *x, const struct audit_run *y)
{
    const struct split_plan *g = &x->simulation.kernel.plan, *h = &y->simulation.kernel.plan;
    return g->splits == h->splits && g->order == h->order && g->block_tokens == h->block_tokens &&
           g->blocks_per_split == h->blocks_per_split && g->lanes == h->lanes &&
           g->chunk[0] == h->chunk[0] && g->chunk[1] == h->chunk[1];
}

bool same_but_groups(const struct audit_run *x, const struct audit_run *y)
{
    const struct kernel_choice *p = &x->simulation.kernel, *q = &y->simulation.kernel;
    int Br[2], Bc[2];
    kernel_info(p->kernel)->tiles(p, &x->problem, &Br[0], &Bc[0]);
    kernel_info(q->kernel)->tiles(q, &y->problem, &Br[1], &Bc[1]);
    bool same = p->version == q->version && Br[0] == Br[1] && Bc[0] == Bc[1];
    for (int s = 0; s < SITE_COUNT; s++) {
        const struct site_rule *a = &x->simulation.policy.site[s];
        const struct site_rule *b = &y->simulation.policy.site[s];
        bool follows = s == SITE_COMBINE_SUM; /* its order is that of the groups */
        same = same && a->format == b->format && (follows || same_order(&a->order, &b->order));
    }
    return same;
}

/* One version of a kernel on every device: a base for each that differs from the others. */
static void add_devices(struct identify_space *space, enum kernel k, const char *version)
{
    static const enum device order[] = {DEVICE_H200, DEVICE_B200, DEVICE_RTX_PRO_6000};
    struct audit_run run[DEVICE_COUNT];
    int base[DEVICE_COUNT], made = 0;
    for (int n = 0; n < DEVICE_COUNT + 3; n++) {
        int d = n < 3 ? (int)order[n] : n - 3;
        bool told = n >= 3 && (d == DEVICE_H200 || d == DEVICE_B200 || d == DEVICE_RTX_PRO_6000);
        struct message why;
        int like = 0;
        if (told)
            continue;
        run[made] = (struct audit_run){0};
        text_append(&run[made].name, "%s%s%s@%s", kernel_info(k)->name, version[0] ? ":" : "",
                    version, device_info((enum device)d)->name);
        text_append(&run[made].groups, "%s", "");
        if (!audit_model(space->audit, &run[made], &why)) {
            candidate_run_free(&run[made]);
            continue;
        }
        while (like < made &&
               !(same_groups(&run[like], &run[made]) && same_but_groups(&run[like], &run[made])))
            like++;
        if (like == made) {
            struct base *b = add_base(space);
            text_append(&b->name, "%s", run[made].name);
            b->kernel = k;
            base[made++] = space->bases - 1;
        } else {
            candidate_run_free(&run[made]);
        }
        char **devices = &space->base[base[like]].devices;
        text_append(devices, "%s%s", (*devices)[0] ? ", " : "", device_info((enum device)d)->name);
    }
    for (int n = 0; n < made; n++)
        candidate_run_free(&run[n]);
}

static void add_kernels(struct identify_space *space)
{
    const char *meaning;
    for (int round = 0; round < 2; round++) /* the newest of each first */
        for (int k = 0; k < KERNEL_COUNT; k++) {
            if (kernel_info((enum kernel)k)->flags & BACKWARD)
                continue;
            if (round == 0)
                add_devices(space, (enum kernel)k, "");
            for (int v = 1; round == 1 && kernel_version((enum kernel)k, v, &meaning) != NULL; v++)
                add_devices(space, (enum kernel)k, kernel_version((enum kernel)k, v, &meaning));
        }
}

/* "fused separate": the n-th value, or false. */
static bool value_of(const char *values, int n, char *value, size_t room)
{
    for (; n > 0 && *values != 0; n--) {
        values += strcspn(values, " ");
        values += *values == ' ';
    }
    snprintf(value, room, "%.*s", (int)strcspn(values, " "), values);
    return *value != 0;
}

/* Is a row of alter.def the same switch?  It says which bug it is about. */
static const struct change_info *row_of(const char *text)
{
    for (int n = ALTERATION_COUNT; change_info(n) != NULL; n++)
        if (strcmp(change_info(n)->text, text) == 0)
            return change_info(n);
    return NULL;
}

static void add_switches(struct identify_space *space)
{
    for (int o = 0; o < KERNEL_OPTION_COUNT; o++) {
        const struct kernel_option_info *info = kernel_option_info((enum kernel_option)o);
        char value[32], text[96];
        for (int n = 1; value_of(info->values, n, value, sizeof value); n++) {
            snprintf(text, sizeof text, "%s=%s", info->name, value);
            const struct change_info *row = row_of(text);
            struct change *c = add_change(space);
            text_append(&c->own, "%s", text);
            c->info =
                row != NULL ? *row : (struct change_info){"", info->meaning, "", CHANGE_ARITHMETIC};
            c->info.text = c->own;
            c->kernel = info->kernel;
        }
    }
}

/* ---- groups ---- */

/* Do n groups cut so many tiles otherwise than n - 1: has each another number of them? */
static bool cuts(int64_t tiles, int64_t n)
{
    return n == 1 || (n <= tiles && (tiles + n - 1) / n != (tiles + n - 2) / (n - 1));
}

static void add_groups(struct identify_space *space)
{
    enum { MOST = 128, LEAST_TILE = 16 };
    int64_t Nk = space->audit->in.problem.Nk;
    for (int n = 2; n <= MOST; n++) {
        bool any = false; /* by FA2's blocks of 64, 128, 256, or decode's tiles */
        for (int64_t tile = LEAST_TILE; tile <= 256; tile *= 2)
            any = any || (tile >= 64 ? cuts((Nk + tile - 1) / tile, n) : n <= 8 && n * tile <= Nk);
        if (!any)
            continue;
        struct change *c = add_change(space);
        text_append(&c->own, "splits=%d", n);
        c->info = (struct change_info){c->own, "how many groups of keys", "", CHANGE_SCHEDULE};
        c->groups = true;
    }
}

static void add_rows(struct identify_space *space)
{
    for (int n = 0; change_info(n) != NULL; n++) {
        struct change *c = add_change(space);
        c->info = *change_info(n);
        for (int i = 0; i < space->changes - 1; i++) /* a switch of kernels too */
            if (strcmp(space->change[i].info.text, c->info.text) == 0 &&
                space->change[i].kernel == KERNEL_COUNT) {
                space->changes--;
                break;
            }
    }
}

struct identify_space *identify_space_new(struct audit *a, struct message *why)
{
    struct identify_space *space = calloc(1, sizeof *space);
    if (space == NULL) {
        refuse(why, "no memory");
        return NULL;
    }
    space->audit = a;
    add_groups(space);
    add_switches(space);
    add_rows(space);
    add_kernels(space);
    for (int n = 0; base_info(n) != NULL; n++) {
        struct base *base = add_base(space);
        text_append(&base->name, "%s", base_info(n)->text);
        base->bug = base_info(n)->class == CHANGE_BUG ? base_info(n) : NULL;
    }
    return space;
}

void identify_space_free(struct identify_space *space)
{
    for (int n = 0; n < space->bases; n++) {
        free(space->base[n].name);
        free(space->base[n].devices);
    }
    for (int n = 0; n < space->changes; n++)
        free(space->change[n].own);
    free(space->base);
    free(space->change);
    free(space);
}

const struct change_info *identify_change(const struct identify_space *space, int change)
{
    return &space->change[change].info;
}
