/* random_problem.h: problems drawn from a seed: shapes, masks, tails, values of a format. */
#ifndef FLASHULP_TESTS_RANDOM_PROBLEM_H
#define FLASHULP_TESTS_RANDOM_PROBLEM_H

#include <math.h>
#include <stdlib.h>

#include "reference/problem.h"

static inline uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline int64_t draw_below(uint64_t *state, int64_t n)
{
    return (int64_t)(draw(state) % (uint64_t)n);
}

/* About normal (sum of twelve), times `size`. */
static inline double draw_normal(uint64_t *state, double size)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += ldexp((double)(draw(state) >> 11), -53);
    return size * sum;
}

static inline bool draw_tensor(struct tensor *t, enum format f, int64_t B, int64_t H, int64_t N,
                               int64_t D, double size, uint64_t *state)
{
    struct message why;
    if (!tensor_new(t, f, 4, (int64_t[]){B, H, N, D}, &why))
        return false;
    for (int64_t b = 0; b < B; b++)
        for (int64_t h = 0; h < H; h++)
            for (int64_t n = 0; n < N; n++)
                for (int64_t d = 0; d < D; d++)
                    tensor_set(t, b, h, n, d, format_round(f, draw_normal(state, size), true));
    return true;
}

struct shape {
    int64_t B, Hq, Hkv, Nq, Nk, D;
};

static inline bool draw_problem(struct problem *p, enum format f, struct shape s, double size,
                                const struct problem_options *options, uint64_t *state)
{
    struct tensor q, k, v;
    struct message why;
    return draw_tensor(&q, f, s.B, s.Hq, s.Nq, s.D, size, state) &&
           draw_tensor(&k, f, s.B, s.Hkv, s.Nk, s.D, size, state) &&
           draw_tensor(&v, f, s.B, s.Hkv, s.Nk, s.D, 1, state) &&
           problem_new(p, &q, &k, &v, options, &why);
}

/* About half of the keys become what the key before them is: equal scores, maxima among them. */
static inline void repeat_keys(struct problem *p, uint64_t *state)
{
    for (int64_t b = 0; b < p->B; b++)
        for (int64_t h = 0; h < p->Hkv; h++)
            for (int64_t c = 1; c < p->Nk; c++)
                for (int64_t d = 0, same = draw_below(state, 2); same && d < p->D; d++)
                    tensor_set(&p->k, b, h, c, d, tensor_get(&p->k, b, h, c - 1, d));
}

#endif
