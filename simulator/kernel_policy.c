/* kernel_policy.c: a kernel's policy: gpu-bf16 or gpu-fp16, and the rows of kernels.def on top. */
#include <stdio.h>
#include <string.h>

#include "simulator/kernels.h"

/* Stands in a row for what Q, K and V hold. */
enum { FORMAT_ELEMENT = FORMAT_COUNT };

static const struct {
    enum kernel kernel;
    enum site site;
    int format;
} sites[] = {
#define KERNEL_SITE(kernel, site, format) {KERNEL_##kernel, SITE_##site, FORMAT_##format},
#include "simulator/kernels.def"
#undef KERNEL_SITE
    {KERNEL_COUNT, SITE_NONE, 0},
};

static const struct {
    enum kernel kernel;
    const char *site, *order;
} orders[] = {
#define KERNEL_ORDER(kernel, site, order) {KERNEL_##kernel, #site, order},
#include "simulator/kernels.def"
#undef KERNEL_ORDER
    {KERNEL_COUNT, NULL, NULL},
};

bool kernel_rule(enum kernel k, int n, struct kernel_rule *rule)
{
    for (int i = 0; sites[i].kernel != KERNEL_COUNT; i++)
        if (sites[i].kernel == k && n-- == 0) {
            int f = sites[i].format;
            const char *format = f == FORMAT_ELEMENT ? "as the inputs" : format_info((enum format)f)->name;
            snprintf(rule->text, sizeof rule->text, "%s %s", site_name(sites[i].site), format);
            return true;
        }
    for (int i = 0; orders[i].site != NULL; i++)
        if (orders[i].kernel == k && n-- == 0) {
            snprintf(rule->text, sizeof rule->text, "%s %.70s", orders[i].site, orders[i].order);
            return true;
        }
    return false;
}

static bool set_orders(const struct kernel_choice *c, struct policy *p, struct message *why)
{
    for (int i = 0; orders[i].site != NULL; i++) {
        char text[256];
        bool unit = strcmp(orders[i].order, "mma") == 0;
        if (orders[i].kernel != c->kernel)
            continue;
        snprintf(text, sizeof text, "%s=%s%s%s", orders[i].site, orders[i].order, unit ? "@" : "",
                 unit ? c->unit : "");
        if (!policy_order(p, text, why))
            return false;
    }
    return true;
}

/* Every fp32 operation outside the tensor core flushes subnormal numbers. */
static void flush_sites(struct policy *p)
{
    for (int s = 0; s < SITE_COUNT; s++)
        if (p->site[s].format == FORMAT_FP32 && p->site[s].order.kind != ORDER_MMA &&
            s != SITE_INPUT && s != SITE_CONST && s != SITE_GROUP_SUM) /* PyTorch's, no kernel's */
            p->site[s].format = FORMAT_FP32_FTZ;
}

bool kernel_adjust_nothing(const struct kernel_choice *c, const struct problem *p,
                           struct policy *policy, struct message *why)
{
    (void)c, (void)p, (void)policy, (void)why;
    return true;
}

bool kernel_policy(const struct kernel_choice *c, const struct problem *p, enum format element,
                   struct policy *policy, struct message *why)
{
    const struct kernel_info *k = kernel_info(c->kernel);
    *policy = policy_table(element == FORMAT_FP16 ? POLICY_GPU_FP16 : POLICY_GPU_BF16);
    for (int i = 0; sites[i].kernel != KERNEL_COUNT; i++)
        if (sites[i].kernel == c->kernel)
            policy->site[sites[i].site].format =
                sites[i].format == FORMAT_ELEMENT ? element : (enum format)sites[i].format;
    if (!set_orders(c, policy, why) || !k->adjust(c, p, policy, why))
        return false;
    if (k->flags & FAST_MATH)
        flush_sites(policy);
    policy->max_ignores_nan = true;
    snprintf(policy->name, sizeof policy->name, "%.40s", k->name);
    return true;
}
