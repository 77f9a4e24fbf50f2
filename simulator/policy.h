/* policy.h: rounding as data: for every site a format and an order, and which special functions.

   The tables are sites.def and special.def; a user's --set, --order and --special change a copy. */
#ifndef FLASHULP_POLICY_H
#define FLASHULP_POLICY_H

#include "reference/format.h"
#include "simulator/order.h"
#include "simulator/special.h"

enum site {
#define SITE(id, ...) SITE_##id,
#include "simulator/sites.def"
#undef SITE
    SITE_COUNT,
    SITE_NONE = SITE_COUNT /* a call that does not round */
};

enum policy_id {
#define POLICY(id, name, meaning) POLICY_##id,
#include "simulator/sites.def"
#undef POLICY
    POLICY_COUNT
};

struct site_rule {
    enum format format;
    struct order order;
    int scale_log2; /* x is rounded as 2^-k round(2^k x) */
};

struct policy {
    char name[48]; /* "gpu-bf16", or "gpu-bf16+" once changed */
    struct site_rule site[SITE_COUNT];
    struct special_choice special;
    bool saturate;        /* overflow in e4m3 and e5m2 gives the largest number */
    bool max_ignores_nan; /* as fmaxf and PTX max do; ours propagates */
};

const char *site_name(enum site s);
const char *site_meaning(enum site s);
bool site_from_name(const char *name, enum site *s, struct message *why);
const char *policy_name(enum policy_id p);
const char *policy_meaning(enum policy_id p);

struct policy policy_table(enum policy_id p);
bool policy_from_name(const char *name, struct policy *p, struct message *why);
/* "PROB=bf16"; "ROW_SUM=pairwise"; "poly" or "table:FILE". */
bool policy_set(struct policy *p, const char *site_is_format, struct message *why);
bool policy_order(struct policy *p, const char *site_is_order, struct message *why);
bool policy_special(struct policy *p, const char *name, struct message *why);
/* Are the factors of every sum that has an mma order of the formats its unit takes, its accumulator
   too?  Exact sites have none.  `summed`: where the row sum's terms were last rounded, EXP or PROB. */
bool policy_orders_fit(const struct policy *p, enum site summed, struct message *why);
/* Every site exact, everything else as in p. */
struct policy policy_all_exact(const struct policy *p);

#endif
