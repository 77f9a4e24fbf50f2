/* audit_names.c: a run's name as a simulation.

   NAME[:POLICY][+OPTION=VALUE...] is a listing, NAME[:VERSION][@DEVICE] a kernel, DEVICE alone
   decode's listing as FA2 would cut the keys on that GPU.  A name becomes the options of the
   command line; what the command line says besides holds for every run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/audit_parts.h"
#include "simulator/scenario_parts.h"

/* The command line's options, to be changed by a run's name. */
static void copy_options(struct scenario *to, const struct scenario *from)
{
    *to = (struct scenario){.verb = from->verb};
    if (from->problem != NULL)
        text_append(&to->problem, "%s", from->problem);
    for (int o = 0; o < OPTION_COUNT; o++) {
        to->given[o] = from->given[o];
        if (from->value[o] != NULL)
            text_append(&to->value[o], "%s", from->value[o]);
    }
}

/* Repeatable options gather; others are replaced. */
static void put(struct scenario *s, enum option o, const char *value)
{
    bool more = option_info(o)->repeatable && s->value[o] != NULL;
    if (!more) {
        free(s->value[o]);
        s->value[o] = NULL;
    }
    s->given[o] = true;
    text_append(&s->value[o], "%s%s", more ? "\n" : "", value);
}

/* "splits=54": an option of runs by its name; else a switch of the kernel or of decode.  ';' stands
   for a comma, which ends a run's name. */
static bool put_more(struct scenario *s, char *text, struct message *why)
{
    static const enum option named[] = {OPTION_POLICY,       OPTION_SET,      OPTION_ORDER,
                                        OPTION_SPECIAL,      OPTION_TILE,     OPTION_SPLITS,
                                        OPTION_GROUP_TOKENS, OPTION_GROUPING, OPTION_KV,
                                        OPTION_FAULT,        OPTION_ARITH,    OPTION_ALTER};
    const char *equals = strchr(text, '=');
    for (char *at = text; *at != 0; at++)
        *at = *at == ';' ? ',' : *at;
    if (equals == NULL)
        return refuse(why, "--runs: +%.60s: NAME=VALUE is right, such as +splits=54", text);
    size_t length = (size_t)(equals - text);
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        const char *name = option_info(named[i])->name + 2;
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            put(s, named[i], equals + 1);
            return true;
        }
    }
    put(s, OPTION_SWITCH, text);
    return true;
}

/* The smallest head size a kernel takes that D fits in; 0: none. */
static int64_t size_above(const char *sizes, int64_t D)
{
    int64_t best = 0;
    while (*sizes != 0) {
        char *end;
        int64_t size = strtol(sizes, &end, 10);
        if (size >= D && (best == 0 || size < best))
            best = size;
        sizes = *end == ' ' ? end + 1 : end;
    }
    return best;
}

/* KV heads and query heads of the launch: the problem's, or an example's. */
static void launch_heads(const struct audit *a, struct launch *l)
{
    const struct problem *p = &a->in.problem;
    enum example e;
    int64_t more = scenario_example(a->scenario, &e) ? example_launch_heads(e) : 0;
    l->heads_kv = more > 0 ? more : p->Hkv;
    l->heads_q = more > 0 ? more : p->Hq;
}

/* A device's name: decode, its keys cut as FA2's rule does on that GPU. */
static bool put_device(const struct audit *a, struct scenario *s, const char *name,
                       struct message *why)
{
    const struct problem *p = &a->in.problem;
    struct device_record device;
    struct launch l = {.batch = p->B > 0 ? p->B : 1, .len_q = 1, .longest = p->Nk, .shortest = -1};
    struct split_plan plan;
    char text[64];
    if (!device_lookup(name, &device, why))
        return false;
    l.sms = (int)device.figure[QUANTITY_SMS];
    l.dim = p->D;
    launch_heads(a, &l);
    if (p->cu_q != NULL || p->Nq != 1)
        return refuse(why,
                      "--runs %s: a GPU alone names how one query's keys are cut; this problem "
                      "has several queries, so name a listing or kernel",
                      name);
    if (!split_plan(SPLIT_RULE_FA2_SPLIT, "", &l, &plan, why))
        return false;
    put(s, OPTION_ALGORITHM, "decode");
    snprintf(text, sizeof text, "%lld", (long long)(plan.blocks_per_split * plan.block_tokens));
    if (plan.blocks > 0)
        put(s, OPTION_GROUP_TOKENS, text);
    snprintf(text, sizeof text, "1,%lld", (long long)plan.block_tokens);
    put(s, OPTION_TILE, text);
    return true;
}

/* Puts the part of a name before '+' into options. */
static bool put_head(const struct audit *a, struct scenario *s, char *head, struct message *why)
{
    enum algorithm listing;
    enum kernel kernel;
    enum device device;
    struct message unlike;
    char *colon = strchr(head, ':');
    size_t length = colon != NULL ? (size_t)(colon - head) : strlen(head);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), head);
    if (strchr(head, '@') != NULL || kernel_from_name(name, &kernel, &unlike)) {
        bool both = algorithm_from_name(name, &listing, &unlike) && strchr(head, '@') == NULL;
        if (!both) {
            put(s, OPTION_KERNEL, head);
            return true;
        }
    }
    if (algorithm_from_name(name, &listing, why)) {
        put(s, OPTION_ALGORITHM, name);
        if (colon != NULL)
            put(s, OPTION_POLICY, colon + 1);
        return true;
    }
    bool file = strlen(head) > 5 && strcmp(head + strlen(head) - 5, ".json") == 0;
    if (colon == NULL && (file || device_from_name(head, &device, &unlike)))
        return put_device(a, s, head, why);
    if (strstr(unlike.text, "did you mean") != NULL && strstr(why->text, "did you mean") == NULL)
        *why = unlike;
    struct message reason = *why;
    return refuse(why,
                  "--runs %.60s: %.300s; a listing (fa2:gpu-bf16), a kernel (fa2-split@H200), a "
                  "GPU (H200), o.NAME or file:O.npy is right",
                  head, reason.text);
}

/* Q, K, V as the reader left them must be what the policy would take. */
static bool same_input(const struct audit *a, const struct audit_run *run, struct message *why)
{
    enum format wanted = run->simulation.policy.site[SITE_INPUT].format;
    const struct tensor *tensor[3] = {&a->in.problem.q, &a->in.problem.k, &a->in.problem.v};
    if (wanted == FORMAT_EXACT || run->simulation.is_kernel)
        return true;
    for (int i = 0; i < 3; i++) {
        const struct tensor *t = tensor[i];
        if (format_info(t->dtype)->precision <= format_info(wanted)->precision)
            continue;
        for (int64_t n = 0; n < tensor_elements(t); n++) {
            int64_t d = n % t->shape[3], r = n / t->shape[3] % t->shape[2];
            int64_t h = n / t->shape[3] / t->shape[2] % t->shape[1];
            double x = tensor_get(t, n / t->shape[3] / t->shape[2] / t->shape[1], h, r, d);
            if (!(format_round(wanted, x, false) == x || isnan(x)))
                return refuse(why,
                              "--runs %s: its policy rounds Q, K, V to %s, and every run takes the "
                              "same ones; --dtype %s is right",
                              run->name, format_info(wanted)->name, format_info(wanted)->name);
        }
    }
    return true;
}

/* A copy of t with `D` columns, those beyond its own 0. */
static bool widened(const struct tensor *t, int64_t D, struct tensor *to, struct message *why)
{
    const int64_t shape[TENSOR_MAX_RANK] = {t->shape[0], t->shape[1], t->shape[2], D};
    if (!tensor_new(to, t->dtype, TENSOR_MAX_RANK, shape, why))
        return false;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t n = 0; n < shape[2]; n++)
                for (int64_t d = 0; d < t->shape[3]; d++)
                    tensor_set(to, b, h, n, d, tensor_get(t, b, h, n, d));
    return true;
}

/* A kernel that lacks the head size gets zeros in further columns; scores and scale stay. */
static bool pad(const struct audit *a, struct audit_run *run, const char *kernel,
                struct message *why)
{
    const struct problem *p = &a->in.problem;
    struct kernel_choice c;
    run->problem = *p;
    if (kernel == NULL)
        return true;
    if (!kernel_choose(&c, kernel, why))
        return false;
    run->problem.tiles = 0; /* the tiles of --scores are for listings */
    run->problem.tile_ends = NULL;
    int64_t D = size_above(kernel_info(c.kernel)->head_sizes, p->D);
    if (D == 0 || D == p->D)
        return true; /* too large: the kernel says so */
    struct problem *wide = &run->problem;
    wide->q = wide->k = wide->v = (struct tensor){0};
    wide->D = D;
    run->padded = true;
    char *words = NULL;
    text_append(&words, "%s takes no head size %lld: zeros to %lld columns, the same scale",
                run->name, (long long)p->D, (long long)D);
    text_wrapped(&run->remarks, 0, 1, words);
    free(words);
    return widened(&p->q, D, &wide->q, why) && widened(&p->k, D, &wide->k, why) &&
           widened(&p->v, D, &wide->v, why);
}

/* "54 x 512", "16 x 1,728", "33 in turn": round robin. */
static void describe_groups(struct audit_run *run)
{
    const struct simulation *s = &run->simulation;
    struct head h = {.problem = &run->problem, .Nq = 1, .Nk = run->problem.Nk, .D = run->problem.D};
    if (s->is_kernel && kernel_info(s->kernel.kernel)->flags & GROUPED) {
        const struct split_plan *p = &s->kernel.plan;
        if (p->order == GROUPS_ROUND_ROBIN)
            text_append(&run->groups, "%d in turn", p->splits);
        else
            text_append(&run->groups, "%d x %s", p->splits,
                        grouped(p->blocks_per_split * p->block_tokens).text);
    } else if (!s->is_kernel && s->algorithm == ALGORITHM_DECODE) {
        struct choices c = simulation_choices(s, &h);
        if (c.grouping.round_robin)
            text_append(&run->groups, "%d in turn", c.grouping.splits);
        else
            text_append(&run->groups, "%d x %s", c.grouping.splits,
                        grouped((int64_t)c.grouping.tiles * c.Bc).text);
    }
}

bool audit_model(struct audit *a, struct audit_run *run, struct message *why)
{
    struct scenario s;
    char *copy = NULL, *next;
    copy_options(&s, a->scenario);
    text_append(&copy, "%s", run->name);
    next = strchr(copy, '+');
    if (next != NULL)
        *next++ = 0;
    bool ok = put_head(a, &s, copy, why);
    for (char *at = next; ok && at != NULL; at = next) {
        next = strchr(at, '+');
        if (next != NULL)
            *next++ = 0;
        ok = put_more(&s, at, why);
    }
    ok = ok && pad(a, run, s.value[OPTION_KERNEL], why);
    struct scenario_input in = a->in;
    in.problem = run->problem;
    ok = ok && scenario_simulation(&s, &in, &run->simulation, why) && same_input(a, run, why);
    if (ok) {
        const struct simulation *m = &run->simulation;
        text_append(&run->what, "%s",
                    m->is_kernel ? kernel_info(m->kernel.kernel)->name
                                 : algorithm_info(m->algorithm)->name);
        describe_groups(run);
    }
    scenario_free(&s);
    free(copy);
    return ok;
}
