/* test_oracle_second.c: does the judge agree with others?

   With digests of a program written separately (exact rational arithmetic), with a direct softmax in
   long double, and with itself where two listings are one. */
#include "tests/oracle_help.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const attention[] = {"standard", "online",      "fa1",
                                        "fa2",      "fa1-printed", "fa2-printed"};

/* Digests of a program written separately, in exact rational arithmetic: 4 rows (one sees nothing)
   by 7 keys, head size 3, scale 1/sqrt(3), query and key tiles of 2.  "mixed" has another format at
   nearly every site, so that a site taken for its neighbour shows. */
enum { PIN_ROWS = 4, PIN_KEYS = 7, PIN_D = 3, PIN_POLICIES = 4 };

static const struct pin {
    const char *algorithm;
    int flags;
    uint64_t digest[PIN_POLICIES];
} pins[] = {
    {"standard",
     0,
     {0x00441c9f70f6cce3, 0x3ef627b5a93b2cb1, 0x8f02e62eeed54641, 0xf49395c65ef3d28c}},
    {"online", 0, {0x3e946c54216e1643, 0xbe3a7db0fe160491, 0xb523cf090bc1c6f4, 0xe6957f12226317b0}},
    {"fa1", 0, {0xbac4d07e9f62c9c3, 0x1b70552972cbdc7a, 0xe6d45d58391d737c, 0x9c2f9e565ca9d15c}},
    {"fa2", 0, {0xd22832404c2bdd43, 0xc4f10b53a2804111, 0x40e42d81817581ff, 0x3540a74e4476db1c}},
    {"fa2",
     DESCENDING,
     {0xb0aa95c17c39fae3, 0x1cd14f11f3a5af11, 0x166bb6b396c81edd, 0x41a46cb18849cd13}},
    {"fa1-printed",
     0,
     {0xf49cae2ce102e283, 0xd7e0d162a3b38f88, 0xc5a9e47c5eebcba6, 0xe6957f12226317b0}},
    {"fa2-printed",
     TILE_MAX,
     {0x668fa8f7bec912ca, 0xab97b06a3ecfa354, 0xeb60c290f87c13a2, 0x548ca82a7c563f61}},
    {"fa2-printed",
     ZERO_START,
     {0x43cbed64ab3bb2a3, 0xc4f10b53a2804111, 0x14f73567eb01707f, 0x9925312645994852}},
    {"fa2-printed",
     NO_TAIL_MASK,
     {0x9506fb8fc3899424, 0x9d3d3fe96942aa59, 0xf0017bc842db7ba7, 0x0c01a5f601d4b7a6}},
    {"fa2-printed",
     TILE_MAX | ZERO_START | NO_TAIL_MASK | DESCENDING,
     {0xc03af97d85e15ca2, 0x7121707dbd36831d, 0xb91e496360dd242b, 0x895e5ae7bb634bf8}},
    {"unstable",
     0,
     {0xda2a4d992afb0768, 0xb2bb860332bf26b2, 0x60f87ec47597ddbd, 0x424a374103ae9033}},
    {"unstable",
     NO_TAIL_MASK,
     {0x90b49c91e20f1cbf, 0x0ca6122a9763bddf, 0x332d1bdf5f672f79, 0x560a851c0d8088b7}},
};

static void pinned_policy(struct oracle *o, int policy)
{
    static const char *const names[] = {"fp32", "all-bf16", "fp8", "fp32"};
    static const enum format cycle[] = {FORMAT_FP32, FORMAT_BF16, FORMAT_FP16, FORMAT_TF32,
                                        FORMAT_FP64};
    oracle_policy(o, names[policy]);
    o->softcap = policy % 2 == 1 ? 3 : 0;
    for (int at = 0, i = 0; policy == 3 && at < AT_COUNT; at++) {
        if (at == AT_PV_STORE) /* which the other program does not know */
            continue;
        o->site[at] = cycle[(i * i + i / 3) % 5];
        i++;
    }
}

/* FNV-1a over the doubles' little-endian bytes; zeros without their sign. */
static uint64_t digest(uint64_t hash, const double *x, int count)
{
    for (int i = 0; i < count; i++) {
        double positive = x[i] == 0 ? 0 : x[i];
        uint64_t bits;
        memcpy(&bits, &positive, sizeof bits);
        for (int shift = 0; shift < 64; shift += 8)
            hash = (hash ^ (bits >> shift & 0xff)) * 0x100000001b3u;
    }
    return hash;
}

static void a_second_program_agrees(void **unused)
{
    (void)unused;
    double q[PIN_ROWS * PIN_D], k[PIN_KEYS * PIN_D], v[PIN_KEYS * PIN_D];
    for (int i = 0; i < PIN_KEYS * PIN_D; i++) {
        int r = i / PIN_D, d = i % PIN_D;
        k[i] = ((7 * r + 4 * d + 2) % 15 - 7) / 4.0;
        v[i] = ((11 * r + 7 * d + 5) % 15 - 7) / 8.0;
        if (r < PIN_ROWS)
            q[i] = ((5 * r + 3 * d) % 15 - 7) / 4.0;
    }
    static const int64_t lo[PIN_ROWS] = {0, 1, 5, 3}, hi[PIN_ROWS] = {7, 4, 7, 3};
    for (int i = 0; i < COUNT(pins) * PIN_POLICIES; i++) {
        const struct pin *pin = &pins[i / PIN_POLICIES];
        struct oracle o = oracle_over(PIN_ROWS, PIN_KEYS, PIN_D, q, k, v);
        o.scale_root = 3;
        o.lo = lo;
        o.hi = hi;
        o.tile = 2;
        o.row_tile = 2;
        pinned_policy(&o, i % PIN_POLICIES);
        set_flags(&o, pin->flags);
        double O[PIN_ROWS * PIN_D], lse[PIN_ROWS];
        oracle_run(&o, pin->algorithm, O, lse);
        uint64_t got = digest(digest(0xcbf29ce484222325u, O, COUNT(O)), lse, COUNT(lse));
        if (got != pin->digest[i % PIN_POLICIES])
            fail_msg("%s, flags %d, policy %d: %016llx, not %016llx; O[0] = %a, L[0] = %a",
                     pin->algorithm, pin->flags, i % PIN_POLICIES, (unsigned long long)got,
                     (unsigned long long)pin->digest[i % PIN_POLICIES], O[0], lse[0]);
    }
}

/* Random problems: uneven tiles, masks, softcap, either direction. */
enum { RANDOM_ROWS = 6, RANDOM_KEYS = 23, RANDOM_D = 5 };

struct random_problem {
    struct oracle o;
    double q[RANDOM_ROWS * RANDOM_D], k[RANDOM_KEYS * RANDOM_D], v[RANDOM_KEYS * RANDOM_D];
    int64_t lo[RANDOM_ROWS], hi[RANDOM_ROWS], ends[RANDOM_KEYS + 1];
};

static void draw_problem(struct random_problem *p, uint64_t *state)
{
    for (int i = 0; i < RANDOM_KEYS * RANDOM_D; i++) {
        p->k[i] = ldexp((double)(int32_t)random_bits(state), -30);
        p->v[i] = ldexp((double)(int32_t)random_bits(state), -30);
        p->q[i % COUNT(p->q)] = ldexp((double)(int32_t)random_bits(state), -30);
    }
    for (int r = 0; r < RANDOM_ROWS; r++) {
        p->lo[r] = (int64_t)(random_bits(state) % RANDOM_KEYS);
        p->hi[r] =
            p->lo[r] + (int64_t)(random_bits(state) % (uint64_t)(RANDOM_KEYS + 1 - p->lo[r]));
    }
    p->o = oracle_over(RANDOM_ROWS, RANDOM_KEYS, RANDOM_D, p->q, p->k, p->v);
    p->o.scale_root = RANDOM_D;
    if (random_bits(state) % 2 == 0) {
        p->o.lo = p->lo;
        p->o.hi = p->hi;
    }
    p->o.softcap = random_bits(state) % 2 == 0 ? 0 : 0.75;
    p->o.tile = 1 + (int64_t)(random_bits(state) % 9);
    p->o.row_tile = (int64_t)(random_bits(state) % 4);
    if (random_bits(state) % 2 == 0) {
        p->o.ends = p->ends;
        for (int64_t end = 0; end < RANDOM_KEYS; p->ends[p->o.tiles++] = end) {
            end += 1 + (int64_t)(random_bits(state) % 9);
            end = end < RANDOM_KEYS ? end : RANDOM_KEYS;
        }
    }
}

/* softmax(x) V of one row in long double; returns the LSE. */
static long double direct_row(const struct random_problem *p, int r, long double *O)
{
    long double x[RANDOM_KEYS], m = -INFINITY, l = 0;
    int64_t lo = p->o.lo != NULL ? p->lo[r] : 0, hi = p->o.hi != NULL ? p->hi[r] : RANDOM_KEYS;
    for (int64_t c = lo; c < hi; c++) {
        x[c] = 0;
        for (int d = 0; d < RANDOM_D; d++)
            x[c] += (long double)p->q[r * RANDOM_D + d] * p->k[c * RANDOM_D + d];
        x[c] /= sqrtl(RANDOM_D);
        if (p->o.softcap > 0)
            x[c] = p->o.softcap * tanhl(x[c] / p->o.softcap);
        m = x[c] > m ? x[c] : m;
    }
    for (int d = 0; d < RANDOM_D; d++)
        O[d] = 0;
    for (int64_t c = lo; c < hi; c++)
        l += expl(x[c] - m);
    for (int64_t c = lo; c < hi; c++)
        for (int d = 0; d < RANDOM_D; d++)
            O[d] += expl(x[c] - m) / l * p->v[c * RANDOM_D + d];
    return m + logl(l);
}

static void fp64_agrees_with_the_definition(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    double O[RANDOM_ROWS * RANDOM_D], lse[RANDOM_ROWS];
    for (int i = 0; i < 40 * COUNT(attention); i++) {
        struct random_problem p;
        const char *algorithm = attention[i % COUNT(attention)];
        draw_problem(&p, &state);
        oracle_policy(&p.o, "exact");
        p.o.descending = i / COUNT(attention) % 2 == 1;
        oracle_run(&p.o, algorithm, O, lse);
        for (int r = 0; r < RANDOM_ROWS; r++) {
            long double direct[RANDOM_D], l = direct_row(&p, r, direct);
            for (int d = 0; d < RANDOM_D; d++)
                if (!(fabsl(O[r * RANDOM_D + d] - direct[d]) <= 1e-13L))
                    fail_msg("%s, problem %d, row %d: O[%d] = %.17g, not %.17Lg", algorithm, i, r,
                             d, O[r * RANDOM_D + d], direct[d]);
            if (isinf(l) ? lse[r] != -INFINITY : !(fabsl(lse[r] - l) <= 1e-13L))
                fail_msg("%s, problem %d, row %d: L = %.17g, not %.17Lg", algorithm, i, r, lse[r],
                         l);
        }
    }
}

/* Pairs that must be the same bits, at a policy that rounds everywhere. */
static void equal_programs_give_equal_bits(void **unused)
{
    (void)unused;
    uint64_t state = 11;
    for (int i = 0; i < 60; i++) {
        struct random_problem p;
        double a[RANDOM_ROWS * (RANDOM_D + 1)], b[RANDOM_ROWS * (RANDOM_D + 1)];
        double *a_lse = a + RANDOM_ROWS * RANDOM_D, *b_lse = b + RANDOM_ROWS * RANDOM_D;
        draw_problem(&p, &state);
        oracle_policy(&p.o, "all-bf16");
        struct oracle other = p.o;
        const char *one = "fa2", *two = "fa2-printed";
        if (i % 3 == 1) {
            one = "online";
            two = "fa1-printed";
            other.ends = NULL;
            other.tile = 1;
        } else if (i % 3 ==
                   2) { /* tiles listed, or by their width; extra faults do not reach fa2 */
            one = two = "fa2";
            p.o.ends = p.ends;
            p.o.tiles = 0;
            for (int64_t c = 4; c < RANDOM_KEYS + 4; c += 4)
                p.ends[p.o.tiles++] = c < RANDOM_KEYS ? c : RANDOM_KEYS;
            other.ends = NULL;
            other.tile = 4;
            other.tile_max = other.zero_start = other.no_tail_mask = true;
        }
        oracle_run(&p.o, one, a, a_lse);
        oracle_run(&other, two, b, b_lse);
        for (int j = 0; j < COUNT(a); j++)
            if (!same(a[j], b[j]))
                fail_msg("%s and %s, problem %d, element %d: %a and %a", one, two, i, j, a[j],
                         b[j]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_program_agrees),
        cmocka_unit_test(fp64_agrees_with_the_definition),
        cmocka_unit_test(equal_programs_give_equal_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
