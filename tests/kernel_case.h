/* kernel_case.h: one random problem for a kernel model: the simulator's problem and the flat arrays an
   oracle reads, the same numbers. */
#ifndef FLASHULP_TESTS_KERNEL_CASE_H
#define FLASHULP_TESTS_KERNEL_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/simulate.h"
#include "tests/random_problem.h"

struct kernel_row {
    const char *kernel, *option; /* "fa2:2.5.3@A100"; "exp-arg=separate", or NULL */
    int shape[4]; /* heads G of one KV head, Nq, Nk, D; decode: Nq 1; else G 1 */
    bool fp16, causal, top_left;
    int left, right; /* 0, 0 stands for no window: -1, -1 */
    double softcap, scale; /* scale 0: 1/sqrt(D) */
    double size;           /* of Q's and K's elements, normal; 0: 1 */
    int splits;            /* 0: the rule's */
    int launch_kv;         /* KV heads of the launch this one is of; 0: this one alone */
    const char *order;     /* "ROW_SUM=seq", or NULL */
};

/* Rows of Q in the order of the outputs: G x Nq. */
struct kernel_inputs {
    struct problem problem;
    struct simulation simulation;
    float *q, *k, *v;
    int rows;
    bool wide; /* the oracle leaves out the last rounding, too */
};

static inline enum format kernel_row_format(const struct kernel_row *row)
{
    return row->fp16 ? FORMAT_FP16 : FORMAT_BF16;
}

static inline float *flat(const struct tensor *t, int64_t heads, int64_t n, int64_t D)
{
    float *x = malloc((size_t)(heads * n * D + 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t h = 0; h < heads; h++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t d = 0; d < D; d++)
                x[(h * n + i) * D + d] = (float)tensor_get(t, 0, h, i, d);
    return x;
}

/* Refusals fail the test with their sentence. */
static inline void kernel_inputs_new(struct kernel_inputs *in, const struct kernel_row *row,
                                     uint64_t seed)
{
    struct message why = {""};
    struct problem_options options = problem_defaults();
    enum format f = kernel_row_format(row);
    struct shape shape = {1, row->shape[0], 1, row->shape[1], row->shape[2], row->shape[3]};
    options.mask.causal = row->causal;
    options.mask.align = row->top_left ? ALIGN_TOP_LEFT : ALIGN_BOTTOM_RIGHT;
    if (row->left != 0 || row->right != 0) {
        options.mask.left = row->left;
        options.mask.right = row->right;
    }
    options.softcap = row->softcap;
    options.scale_given = row->scale != 0;
    options.scale = row->scale;
    assert_true(draw_problem(&in->problem, f, shape, row->size != 0 ? row->size : 1, &options, &seed));
    in->problem.launch_kv = row->launch_kv;
    in->problem.launch_q = row->launch_kv * row->shape[0];
    in->rows = row->shape[0] * row->shape[1];
    in->q = flat(&in->problem.q, row->shape[0], row->shape[1], row->shape[3]);
    in->k = flat(&in->problem.k, 1, row->shape[2], row->shape[3]);
    in->v = flat(&in->problem.v, 1, row->shape[2], row->shape[3]);
    struct simulation *s = &in->simulation;
    *s = simulation_default();
    s->is_kernel = true;
    bool ok = kernel_choose(&s->kernel, row->kernel, &why);
    s->kernel.launch.num_splits = row->splits;
    ok = ok && (row->option == NULL || kernel_set_option(&s->kernel, row->option, &why)) &&
         kernel_takes(&s->kernel, &in->problem, f, &why) &&
         kernel_plan(&s->kernel, &in->problem, &why) &&
         kernel_policy(&s->kernel, &in->problem, f, &s->policy, &why) &&
         (row->order == NULL || policy_order(&s->policy, row->order, &why));
    if (!ok)
        fail_msg("%s: %s", row->kernel, why.text);
}

static inline void kernel_inputs_free(struct kernel_inputs *in)
{
    problem_free(&in->problem);
    free(in->q);
    free(in->k);
    free(in->v);
}

#endif
