/* kernels.h: models of shipped kernels, kernels.def as data.

   A model is a listing in verbs, like an algorithm, with a policy of its own: which sites it rounds
   at, in which order it sums, on which tensor core.  A choice names the kernel, its version, the
   device and the switches; nothing else decides a model's bits. */
#ifndef FLASHULP_KERNELS_H
#define FLASHULP_KERNELS_H

#include "reference/problem.h"
#include "simulator/devices.h"
#include "simulator/policy.h"
#include "simulator/splits.h"

enum kernel {
#define KERNEL(id, ...) KERNEL_##id,
#include "simulator/kernels.def"
#undef KERNEL
    KERNEL_COUNT
};

enum kernel_option {
#define KERNEL_OPTION(kernel, id, ...) KERNEL_OPTION_##kernel##_##id,
#include "simulator/kernels.def"
#undef KERNEL_OPTION
    KERNEL_OPTION_COUNT
};

enum kernel_flag {
    GROUPED = 1,
    FAST_MATH = 2,
    TAKES_CAUSAL = 4,
    TAKES_TOP_LEFT = 8, /* causal, aligned to the top left only */
    TAKES_WINDOW = 16,
    TAKES_SOFTCAP = 32,
    TAKES_PACKED = 64,
    SUMS_ROUNDED = 128, /* the row sum takes weights that were rounded for the values */
    BACKWARD = 256      /* gradients, after kernel_forward's kernel */
};

struct run;
struct attention;
struct kernel_choice;
typedef void kernel_body(struct run *r, struct attention *x);
typedef void kernel_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc);
typedef bool kernel_adjust(const struct kernel_choice *c, const struct problem *p,
                           struct policy *policy, struct message *why);
#define KERNEL(id, name, body, tiles, adjust, ...)                                                 \
    kernel_body body;                                                                              \
    kernel_tiles tiles;                                                                            \
    kernel_adjust adjust;
#include "simulator/kernels.def"
#undef KERNEL

struct kernel_info {
    const char *name;
    kernel_body *body;
    kernel_tiles *tiles;
    kernel_adjust *adjust;
    unsigned flags;
    const char *head_sizes; /* "64 128" */
    const char *meaning, *source;
};
const struct kernel_info *kernel_info(enum kernel k);

/* The n-th row of a kernel in the table of its kind, or NULL when there are no more. */
const char *kernel_version(enum kernel k, int n, const char **meaning);
const char *kernel_departs(enum kernel k, int n);
const char *kernel_evidence(enum kernel k, int n);
/* "SCORE_ACC mma", "PARTIAL_OUT bf16": how the policy differs from gpu-bf16. */
struct kernel_rule {
    char text[96];
};
bool kernel_rule(enum kernel k, int n, struct kernel_rule *rule);
struct kernel_option_info {
    enum kernel kernel;
    const char *name, *values, *meaning; /* values: "fused separate", the first is the default */
};
const struct kernel_option_info *kernel_option_info(enum kernel_option o);

struct kernel_choice {
    enum kernel kernel;
    int version;        /* place among the kernel's versions; 0: the newest */
    char asked[32];     /* the version as it was written, "" for the newest */
    char device[64];    /* "H200" */
    const char *unit;   /* whose tensor cores: "sm90" */
    int sms;
    int option[KERNEL_OPTION_COUNT]; /* place of the value in its list */
    struct launch launch;    /* grouped kernels: num_splits, capacity and the rule's own options */
    struct split_plan plan;  /* of the problem: filled in by kernel_plan */
};

bool kernel_from_name(const char *name, enum kernel *k, struct message *why);
/* "fa2", "fa2:2.5.3", "fa2-split@B200", "fa2:2.5.3@A100".  Without a device: H200. */
bool kernel_choose(struct kernel_choice *c, const char *text, struct message *why);
/* Another device, by name. */
bool kernel_on_device(struct kernel_choice *c, const char *device, struct message *why);
/* "exp-arg=separate"; a switch of the kernel's split rule, too. */
bool kernel_set_option(struct kernel_choice *c, const char *text, struct message *why);
/* "fa2:2.5.3@A100", with the version only when it is not the newest. */
struct kernel_name {
    char text[128];
};
struct kernel_name kernel_name(const struct kernel_choice *c);

/* A switch of this kernel of which it is not established how a GPU has it? */
bool kernel_option_open(const struct kernel_choice *c, enum kernel_option o);
/* Does the kernel take this problem, whose Q, K, V hold `element`?  Otherwise what it takes. */
bool kernel_takes(const struct kernel_choice *c, const struct problem *p, enum format element,
                  struct message *why);
/* The forward kernel, on the same device, whose O and L a backward kernel takes. */
struct kernel_choice kernel_forward(const struct kernel_choice *backward);
/* Grouped kernels: how the tokens of this problem are split on the device.  Others: nothing. */
bool kernel_plan(struct kernel_choice *c, const struct problem *p, struct message *why);
/* What the reader should know about this kernel on this problem, where it leaves the contracts:
   lines, malloc'ed, or NULL. */
char *kernel_warnings(const struct kernel_choice *c, const struct problem *p);
/* Where the kernel rounds and how it sums, for a problem that kernel_takes. */
bool kernel_policy(const struct kernel_choice *c, const struct problem *p, enum format element,
                   struct policy *policy, struct message *why);
/* For kernels whose policy is the same whatever they are given. */
bool kernel_adjust_nothing(const struct kernel_choice *c, const struct problem *p,
                           struct policy *policy, struct message *why);

/* The problem as the launch of a decode kernel, on no device yet. */
struct launch problem_launch(const struct problem *p);

/* Decode: the group's problem, in which the Hq/Hkv query heads of a key head are the rows of one
   head; no mask.  K and V are views of p's; outputs come in the order of p's.  Nq must be 1. */
bool kernel_group(const struct problem *p, struct problem *grouped, struct message *why);

#endif
