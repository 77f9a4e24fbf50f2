/* planted.h: the problems and plants of planted.def. */
#ifndef FLASHULP_TESTS_PLANTED_H
#define FLASHULP_TESTS_PLANTED_H

#include "tests/measured.h"
#include "tests/random_problem.h"

enum kind {
#define KIND(id, ...) KIND_##id,
#include "tests/planted.def"
#undef KIND
    KINDS
};

static const struct {
    bool causal;
    int left;
    double softcap;
    struct shape shape;
    double size;
} kinds[KINDS] = {
#define KIND(id, causal, left, softcap, B, Hq, Hkv, Nq, Nk, D, size)                               \
    {causal, left, softcap, {B, Hq, Hkv, Nq, Nk, D}, size},
#include "tests/planted.def"
#undef KIND
};

static const struct plant {
    uint64_t seed;
    enum kind kind;
    const char *run, *change;
} plants[] = {
#define PLANT(seed, kind, run, change) {seed, KIND_##kind, run, change},
#include "tests/planted.def"
#undef PLANT
};

static inline void draw_kind(struct problem *p, enum kind kind, uint64_t seed)
{
    struct problem_options o = problem_defaults();
    o.mask.causal = kinds[kind].causal;
    o.mask.left = kinds[kind].left;
    o.softcap = kinds[kind].softcap;
    uint64_t state = seed;
    bench_must(draw_problem(p, FORMAT_BF16, kinds[kind].shape, kinds[kind].size, &o, &state),
               "a problem", "no memory");
    for (int64_t i = 0; kinds[kind].size == 0 && i < tensor_elements(&p->q); i++)
        tensor_set(&p->q, 0, i / p->D / p->Nq, i / p->D % p->Nq, i % p->D, -64);
    for (int64_t i = 0; kinds[kind].size == 0 && i < tensor_elements(&p->k); i++)
        tensor_set(&p->k, 0, i / p->D / p->Nk, i / p->D % p->Nk, i % p->D, 64);
}

#endif
