/* policy.c: the policies as columns of sites.def, and the changes a user makes to a copy. */
#include "simulator/policy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "simulator/special_table.h"

#include "simulator/mma.h"

static const char *const site_names[] = {
#define SITE(id, ...) #id,
#include "simulator/sites.def"
#undef SITE
};

static const char *const site_meanings[] = {
#define SITE(id, meaning, ...) meaning,
#include "simulator/sites.def"
#undef SITE
};

static const char *const policy_names[] = {
#define POLICY(id, name, meaning) name,
#include "simulator/sites.def"
#undef POLICY
};

static const char *const policy_meanings[] = {
#define POLICY(id, name, meaning) meaning,
#include "simulator/sites.def"
#undef POLICY
};

static const char *const special_names[] = {
#define SPECIAL(id, name, meaning) name,
#include "simulator/special.def"
#undef SPECIAL
};

static const enum format site_formats[SITE_COUNT][POLICY_COUNT] = {
#define SITE(id, meaning, fp32, gpu_bf16, gpu_fp16, all_bf16, fp8, exact)                        \
    {FORMAT_##fp32, FORMAT_##gpu_bf16, FORMAT_##gpu_fp16, FORMAT_##all_bf16, FORMAT_##fp8,       \
     FORMAT_##exact},
#include "simulator/sites.def"
#undef SITE
};

/* What a site's sum multiplies. */
static const struct {
    bool sums;
    enum site a, b;
} site_sum[SITE_COUNT] = {
#define SITE_SUM(id, a, b) [SITE_##id] = {true, SITE_##a, SITE_##b},
#include "simulator/sites.def"
#undef SITE_SUM
};

static const char summing_sites[] = ""
#define SITE_SUM(id, a, b) " " #id
#include "simulator/sites.def"
#undef SITE_SUM
    ;

const char *site_name(enum site s)
{
    assert(s < SITE_COUNT);
    return site_names[s];
}

const char *site_meaning(enum site s)
{
    assert(s < SITE_COUNT);
    return site_meanings[s];
}

const char *policy_name(enum policy_id p)
{
    assert(p < POLICY_COUNT);
    return policy_names[p];
}

const char *policy_meaning(enum policy_id p)
{
    assert(p < POLICY_COUNT);
    return policy_meanings[p];
}

/* The place of `word` among the names, or -1 with "no WHAT is called ..." and what there is. */
static int find_name(const char *what, const char *word, const char *const *names, int count,
                     struct message *why)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    const char *near = nearest_name(word, names, count);
    if (near != NULL) {
        refuse(why, "no %s is called \"%.40s\"; did you mean %s?", what, word, near);
        return -1;
    }
    char all[512] = "";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    refuse(why, "no %s is called \"%.40s\"; there are %s", what, word, all);
    return -1;
}

bool site_from_name(const char *name, enum site *s, struct message *why)
{
    int found = find_name("site", name, site_names, SITE_COUNT, why);
    if (found < 0)
        return false;
    *s = (enum site)found;
    return true;
}

struct policy policy_table(enum policy_id p)
{
    assert(p < POLICY_COUNT);
    struct policy policy = {.special = {SPECIAL_CR, NULL}, .saturate = p == POLICY_FP8};
    strcpy(policy.name, policy_names[p]);
    for (int s = 0; s < SITE_COUNT; s++)
        policy.site[s].format = site_formats[s][p];
#define SITE_SCALE(id, column, k)                                                                \
    if (p == POLICY_##column)                                                                    \
        policy.site[SITE_##id].scale_log2 = k;
#include "simulator/sites.def"
#undef SITE_SCALE
    return policy;
}

bool policy_from_name(const char *name, struct policy *p, struct message *why)
{
    int found = find_name("policy", name, policy_names, POLICY_COUNT, why);
    if (found < 0)
        return false;
    *p = policy_table((enum policy_id)found);
    return true;
}

static void mark_changed(struct policy *p)
{
    size_t length = strlen(p->name);
    if (length > 0 && p->name[length - 1] != '+' && length + 1 < sizeof p->name)
        strcpy(p->name + length, "+");
}

/* Splits "SITE=VALUE"; `option` is what the user typed before it. */
static bool split_setting(const char *option, const char *example, const char *setting,
                          enum site *site, const char **value, struct message *why)
{
    char name[32];
    const char *equals = strchr(setting, '=');
    if (equals == NULL || equals == setting || equals[1] == '\0')
        return refuse(why, "%s takes SITE=%s, got \"%.60s\"", option, example, setting);
    size_t length = (size_t)(equals - setting);
    if (length >= sizeof name)
        length = sizeof name - 1;
    memcpy(name, setting, length);
    name[length] = '\0';
    struct message inner;
    *value = equals + 1;
    return site_from_name(name, site, &inner) || refuse(why, "%s: %s", option, inner.text);
}

bool policy_set(struct policy *p, const char *site_is_format, struct message *why)
{
    enum site site;
    enum format format;
    const char *value;
    struct message inner;
    if (!split_setting("--set", "FORMAT (PROB=bf16)", site_is_format, &site, &value, why))
        return false;
    if (!format_from_name(value, &format, &inner))
        return refuse(why, "--set %s: %s", site_names[site], inner.text);
    if (p->site[site].format != format) {
        p->site[site].format = format;
        /* Scaling is for formats in which small weights vanish. */
        if (format_info(format)->bits > 8)
            p->site[site].scale_log2 = 0;
        mark_changed(p);
    }
    return true;
}

bool policy_order(struct policy *p, const char *site_is_order, struct message *why)
{
    enum site site;
    struct order order;
    const char *value;
    struct message inner;
    if (!split_setting("--order", "ORDER (ROW_SUM=pairwise)", site_is_order, &site, &value, why))
        return false;
    if (!site_sum[site].sums)
        return refuse(why, "--order %s: no sum is taken there; sums are taken at%s",
                      site_names[site], summing_sites);
    if (!order_parse(value, &order, &inner))
        return refuse(why, "--order %s: %s", site_names[site], inner.text);
    if (strcmp(order_text(&order), order_text(&p->site[site].order)) != 0) {
        p->site[site].order = order;
        mark_changed(p);
    }
    return true;
}

bool policy_special(struct policy *p, const char *name, struct message *why)
{
    struct special_choice chosen = {SPECIAL_TABLE, NULL};
    if (strncmp(name, "table:", 6) == 0) {
        struct message inner;
        chosen.table = special_table_open(name + 6, &inner);
        if (chosen.table == NULL)
            return refuse(why, "--special table: %s", inner.text);
    } else {
        int found = find_name("special function set", name, special_names, SPECIAL_COUNT, why);
        if (found < 0)
            return false;
        if (found == SPECIAL_TABLE)
            return refuse(why, "--special table: table:FILE is right, with the file that a GPU was "
                               "probed into");
        chosen.how = (enum special)found;
    }
    if (p->special.how != chosen.how || p->special.table != chosen.table) {
        p->special = chosen;
        mark_changed(p);
    }
    return true;
}

/* What the unit multiplies, as a reader would list it; `fit`: the one to suggest. */
static const char *unit_formats(const struct mma_info *info, const char **fit)
{
    bool bf16 = mma_takes(info, FORMAT_BF16);
    *fit = info->type == MMA_TYPE_TF32 ? "tf32" : info->type == MMA_TYPE_FP8 ? "e4m3"
           : bf16                      ? "bf16" : "fp16";
    return info->type == MMA_TYPE_TF32  ? "tf32 or fp32"
           : info->type == MMA_TYPE_FP8 ? "e4m3 or e5m2"
           : bf16                       ? "bf16 or fp16"
                                        : "fp16";
}

static bool factors_fit(const struct policy *p, enum site site, enum site a, enum site b,
                        struct message *why)
{
    const struct order *o = &p->site[site].order;
    const struct mma_info *info = o->mma->info;
    const enum site factor[2] = {a, b};
    const char *fit, *takes = unit_formats(info, &fit);
    enum format first = p->site[a].format, second = p->site[b].format;
    for (int i = 0; i < 2; i++)
        if (!mma_takes(info, p->site[factor[i]].format))
            return refuse(why, "--order %s=%s multiplies %s, and %s is %s: --set %s=%s",
                          site_names[site], order_text(o), takes, site_names[factor[i]],
                          format_info(p->site[factor[i]].format)->name, site_names[factor[i]], fit);
    if (info->type == MMA_TYPE_16BIT && first != second)
        return refuse(why, "--order %s=%s multiplies numbers of one format, and %s is %s, %s %s: "
                      "--set %s=%s", site_names[site], order_text(o), site_names[a],
                      format_info(first)->name, site_names[b], format_info(second)->name,
                      site_names[a], format_info(second)->name);
    return true;
}

static bool accumulator_fits(const struct policy *p, enum site site, struct message *why)
{
    const struct order *o = &p->site[site].order;
    enum format f = p->site[site].format, factor = p->site[site_sum[site].b].format;
    bool half = f == FORMAT_FP16 && o->mma->info->type == MMA_TYPE_16BIT && factor == FORMAT_FP16;
    if (f != FORMAT_FP32 && !half)
        return refuse(why, "--order %s=%s adds up in fp32, or in fp16 what is fp16, and %s is %s: "
                      "--set %s=fp32", site_names[site], order_text(o), site_names[site],
                      format_info(f)->name, site_names[site]);
    if (site == SITE_OUT_ACC && p->site[SITE_PV_PRODUCT].format != FORMAT_EXACT)
        return refuse(why, "--order %s=%s keeps its products exact, and PV_PRODUCT is %s: "
                      "--set PV_PRODUCT=exact", site_names[site], order_text(o),
                      format_info(p->site[SITE_PV_PRODUCT].format)->name);
    return true;
}

bool policy_orders_fit(const struct policy *p, enum site summed, struct message *why)
{
    for (int s = 0; s < SITE_COUNT; s++) {
        enum site a = s == SITE_ROW_SUM ? summed : site_sum[s].a;
        enum site b = s == SITE_ROW_SUM ? summed : site_sum[s].b;
        if (p->site[s].order.kind != ORDER_MMA || p->site[s].format == FORMAT_EXACT)
            continue;
        if (!factors_fit(p, (enum site)s, a, b, why) || !accumulator_fits(p, (enum site)s, why))
            return false;
    }
    return true;
}

struct policy policy_all_exact(const struct policy *p)
{
    struct policy exact = *p;
    for (int s = 0; s < SITE_COUNT; s++)
        exact.site[s].format = FORMAT_EXACT;
    return exact;
}
