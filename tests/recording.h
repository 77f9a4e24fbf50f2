/* recording.h: what the tests of the ledger share: a run of one head, recorded, and its replays. */
#ifndef FLASHULP_TESTS_RECORDING_H
#define FLASHULP_TESTS_RECORDING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/ledger.h"
#include "simulator/simulate.h"
#include "tests/random_problem.h"

#define EVERY_SITE ((UINT64_C(1) << SITE_COUNT) - 1)
#define BIT(id) (UINT64_C(1) << SITE_##id)

/* O of a run, element by element as a sum of two doubles. */
struct output {
    int64_t count;
    double (*O)[2];
};

static inline struct output output_of(const struct run *r, const struct attention *x)
{
    struct output out = {x->head->Nq * x->head->D, NULL};
    out.O = malloc(((size_t)out.count + 1) * sizeof *out.O);
    assert_non_null(out.O);
    for (int64_t i = 0; i < out.count; i++)
        r->arith->get_wide(x->O->data, (size_t)i, out.O[i]);
    return out;
}

static inline double minus(const struct output *a, const struct output *b, int64_t i)
{
    return (a->O[i][0] - b->O[i][0]) + (a->O[i][1] - b->O[i][1]);
}

/* What is recorded: a simulation of one head, the exact side in `exact`. */
struct recording {
    const struct head *head;
    const struct simulation *simulation;
    const struct arithmetic *exact;
    struct policy exact_policy;
    struct ledger *ledger;
    struct output got;
};

static inline void record(struct recording *x)
{
    struct run r;
    struct message why;
    const struct simulation *s = x->simulation;
    if (!run_new(&r, s->arith, &s->policy, s->precision, &why))
        fail_msg("%s", why.text);
    x->exact_policy = policy_all_exact(&s->policy);
    x->ledger = ledger_new();
    ledger_record(x->ledger, &r, x->exact, s->precision);
    struct attention a = simulate_head(&r, s, x->head);
    x->got = output_of(&r, &a);
    run_free(&r);
}

static inline void exact_run(const struct recording *x, struct run *r)
{
    struct message why;
    assert_true(run_new(r, x->exact, &x->exact_policy, x->simulation->precision, &why));
}

static inline struct output replay(const struct recording *x, uint64_t sites)
{
    struct run r;
    exact_run(x, &r);
    ledger_replay(x->ledger, &r, sites);
    struct attention a = simulate_head(&r, x->simulation, x->head);
    struct output out = output_of(&r, &a);
    assert_true(ledger_finished(x->ledger));
    run_free(&r);
    return out;
}

static inline void recording_free(struct recording *x)
{
    ledger_free(x->ledger);
    free(x->got.O);
}

static inline struct simulation simulation_of(enum algorithm a, enum policy_id policy, int Br,
                                              int Bc)
{
    struct simulation s = simulation_default();
    s.algorithm = a;
    s.policy = policy_table(policy);
    s.choices.Br = a == ALGORITHM_STANDARD ? 0 : Br;
    s.choices.Bc = a == ALGORITHM_ONLINE ? 1 : Bc;
    return s;
}

static inline void random_head(struct problem *p, struct head *h, const struct simulation *s,
                               struct shape shape, double size, bool causal, uint64_t *state)
{
    struct problem_options o = problem_defaults();
    enum format f = s->policy.site[SITE_INPUT].format;
    o.mask.causal = causal;
    assert_true(draw_problem(p, f == FORMAT_EXACT ? FORMAT_FP32 : f, shape, size, &o, state));
    *h = problem_head(p, 0);
}

#endif
