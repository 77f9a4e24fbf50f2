/* decode_forms.h: the switches of algorithm decode, out of the words of --option; decode.def. */
#ifndef FLASHULP_DECODE_FORMS_H
#define FLASHULP_DECODE_FORMS_H

#include "simulator/simulate.h"

enum backend {
#define BACKEND(id, ...) BACKEND_##id,
#include "simulator/decode.def"
#undef BACKEND
    BACKEND_COUNT
};

/* A preset.  What the command line says besides wins over it. */
struct backend_info {
    const char *name;
    enum merge merge;
    bool round_robin;
    int tile, splits; /* splits 0: a group for each tile */
    bool sum_rounded, out_narrow; /* out_narrow: PARTIAL_OUT in the format of OUT */
    enum split_rule rule;         /* SPLIT_RULE_DECODE: the same groups on every device */
    const char *meaning;
};
const struct backend_info *backend_info(enum backend b);

struct decode_form {
    const struct backend_info *backend; /* or NULL */
    enum merge merge;
    bool running_max, sum_rounded;
};

/* "backend=fa2\nmerge=lse\nmax=running\nsum=rounded", in any order; NULL: the defaults. */
bool decode_form_read(struct decode_form *f, const char *lines, struct message *why);
/* What the preset says about formats. */
void decode_form_policy(const struct decode_form *f, struct policy *p);

#endif
