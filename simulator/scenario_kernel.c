/* scenario_kernel.c: --kernel, --device, --option: a kernel model and the policy it brings. */
#include <stdlib.h>
#include <string.h>

#include "simulator/scenario_parts.h"

/* What only listings have. */
static bool nothing_else_chosen(const struct scenario *s, struct message *why)
{
    static const struct {
        enum option option;
        const char *reason;
    } none[] = {
        {OPTION_ALGORITHM, "names a listing, --kernel a model; one of them is right"},
        {OPTION_TILE, "a kernel has its own tiles"},
        {OPTION_WARPS, "a kernel has its own warps"},
        {OPTION_KV, "a kernel has its own order of key tiles"},
        {OPTION_GROUP_TOKENS, "is decode's; the kernel and --device say how the keys are cut"},
        {OPTION_GROUPING, "is decode's; the kernel and --device say how the keys are cut"},
        {OPTION_FAULT, "a kernel has no such switches; --option has its own"},
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (s->given[none[i].option])
            return refuse(why, "%s: %s", option_info(none[i].option)->name, none[i].reason);
    return true;
}

/* --splits: what a caller may ask of kernels that split. */
static bool read_splits(const struct scenario *s, struct kernel_choice *c, struct message *why)
{
    int64_t splits;
    if (s->value[OPTION_SPLITS] == NULL)
        return true;
    if (!(kernel_info(c->kernel)->flags & GROUPED))
        return refuse(why, "--splits: %s does not split the keys", kernel_info(c->kernel)->name);
    if (!parse_integer("--splits", s->value[OPTION_SPLITS], 1, SPLIT_LARGEST, &splits, why))
        return false;
    c->launch.num_splits = (int)splits;
    return true;
}

/* --capacity: tokens the cache has room for, which some rules count. */
static bool read_capacity(const struct scenario *s, struct kernel_choice *c, struct message *why)
{
    if (s->value[OPTION_CAPACITY] == NULL)
        return true;
    if (!(kernel_info(c->kernel)->flags & GROUPED))
        return refuse(why, "--capacity: %s does not split the keys", kernel_info(c->kernel)->name);
    return parse_integer("--capacity", s->value[OPTION_CAPACITY], 1, (int64_t)1 << 30,
                         &c->launch.capacity, why);
}

static bool take_switch(void *choice, const char *line, struct message *why)
{
    return kernel_set_option(choice, line, why);
}

/* The named policy's formats under the kernel's orders: "exact" is the kernel in real numbers. */
static bool other_formats(const struct scenario *s, struct policy *p, struct message *why)
{
    struct policy named;
    if (s->value[OPTION_POLICY] == NULL)
        return true;
    if (!policy_from_name(s->value[OPTION_POLICY], &named, why))
        return false;
    for (int site = 0; site < SITE_COUNT; site++)
        named.site[site].order = p->site[site].order;
    *p = named;
    return true;
}

/* A backward kernel needs the gradient of O, a forward one knows no such thing. */
static bool direction_fits(const struct scenario *s, const struct kernel_choice *c,
                           struct message *why)
{
    const struct kernel_info *k = kernel_info(c->kernel);
    if (k->flags & BACKWARD && !s->given[OPTION_DO])
        return refuse(why, "%s goes backward: flashulp run PROBLEM --kernel %s --do FILE.npy (or "
                           "ones, random:SEED) is right", k->name, k->name);
    if (!(k->flags & BACKWARD) && s->given[OPTION_DO])
        return refuse(why, "%s goes forward only; --kernel fa2-bwd goes backward after fa2", k->name);
    return true;
}

bool scenario_kernel(const struct scenario *s, const struct scenario_input *in,
                     struct simulation *simulation, struct message *why)
{
    struct kernel_choice *c = &simulation->kernel;
    const char *device = s->value[OPTION_DEVICE];
    enum site summed;
    simulation->is_kernel = true;
    if (!nothing_else_chosen(s, why) || !kernel_choose(c, s->value[OPTION_KERNEL], why) ||
        !direction_fits(s, c, why))
        return false;
    if (device != NULL && strchr(s->value[OPTION_KERNEL], '@') != NULL)
        return refuse(why, "--device %.60s: --kernel %.60s names one already", device,
                      s->value[OPTION_KERNEL]);
    summed = kernel_info(c->kernel)->flags & SUMS_ROUNDED ? SITE_PROB : SITE_EXP;
    bool ok = (device == NULL || kernel_on_device(c, device, why)) &&
              each_line(s->value[OPTION_SWITCH], take_switch, c, why) && read_splits(s, c, why) &&
              read_capacity(s, c, why) &&
              kernel_takes(c, &in->problem, in->input_format, why) &&
              kernel_plan(c, &in->problem, why) &&
              kernel_policy(c, &in->problem, in->input_format, &simulation->policy, why) &&
              other_formats(s, &simulation->policy, why) &&
              scenario_policy_changes(s, &simulation->policy, why) &&
              policy_orders_fit(&simulation->policy, summed, why);
    simulation->forward = kernel_forward(c);
    return ok;
}
