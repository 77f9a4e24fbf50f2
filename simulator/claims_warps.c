/* claims_warps.c: the claims of the FlashAttention-2 article about the warps of a block, forward
   and backward: what they exchange, counted over the listings splitk and splitq and the backward
   passes after them, and the two roundings side by side. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/claims_parts.h"
#include "simulator/exchange.h"
#include "simulator/scenario_parts.h"

struct shared_out {
    struct exchange count;
    int64_t partial, inputs; /* bytes of all warps */
    int64_t waits;
};

static struct simulation shared_run(enum algorithm a, enum policy_id policy, int tile, int warps)
{
    struct simulation s = policy_run(a, policy, tile);
    s.choices.Br = tile;
    s.choices.warps = warps;
    return s;
}

static struct shared_out count_of(const struct problem *p, enum algorithm a, int tile, int warps)
{
    struct simulation s = shared_run(a, POLICY_GPU_BF16, tile, warps);
    struct shared_out o = {0};
    struct head h = problem_head(p, 0);
    exchange_count(&s, &h, &o.count);
    for (int w = 0; w < warps; w++) {
        o.partial += o.count.warp[w].reads + o.count.warp[w].writes;
        o.inputs += o.count.warp[w].inputs;
    }
    o.waits = o.count.warp[0].waits;
    return o;
}

/* Outputs in which the two differ under the policy. */
static int differing(const struct problem *p, enum policy_id policy, int tile, int warps)
{
    struct simulation k = shared_run(ALGORITHM_SPLITK, policy, tile, warps);
    struct simulation q = shared_run(ALGORITHM_SPLITQ, policy, tile, warps);
    struct result a = claim_run(p, &k), b = claim_run(p, &q);
    int n = 0;
    for (int64_t i = 0; i < a.rows * a.D; i++)
        n += a.O[i] != b.O[i];
    result_free(&a);
    result_free(&b);
    return n;
}

void claim_a14(const struct claim_inputs *in, struct claim_outcome *out)
{
    enum { MOST_WARPS = 32, LARGEST = 256 };
    int keys = claim_whole(claim_number(in, INPUT_A14_SHAPE, 0), 1, 4096);
    int D = claim_whole(claim_number(in, INPUT_A14_SHAPE, 1), 1, LARGEST);
    int tile = claim_whole(claim_number(in, INPUT_A14_SHAPE, 2), 1, LARGEST);
    struct problem p = drawn_problem((uint64_t)claim_number(in, INPUT_A14_SEED, 0), tile, keys, D);
    struct claim_outcome lines = {0};
    bool none = true, some = true;
    int64_t partial = 0;
    double warps[CLAIM_NUMBERS];
    int counts = claim_numbers(in, INPUT_A14_WARPS, warps, CLAIM_NUMBERS);
    for (int i = 0; i < counts; i++) {
        int W = claim_whole(warps[i], 1, MOST_WARPS);
        struct shared_out k = count_of(&p, ALGORITHM_SPLITK, tile, W);
        struct shared_out q = count_of(&p, ALGORITHM_SPLITQ, tile, W);
        none = none && q.partial == 0 && q.waits == 0;
        some = some && (k.partial > 0 || W == 1);
        partial = k.partial;
        explain(&lines,
                "  %2d warps  split-K  %9s bytes of results, %3" PRId64 " waits, %3" PRId64
                " barriers\n",
                W, grouped(k.partial).text, k.waits, k.count.barriers);
        explain(&lines,
                "            split-Q  %9s bytes of results, %3" PRId64 " waits, %3" PRId64
                " barriers\n",
                grouped(q.partial).text, q.waits, q.count.barriers);
        explain(&lines, "            outputs that differ: %d of %d in bf16, %d in fp32\n",
                differing(&p, POLICY_GPU_BF16, tile, W), tile * D,
                differing(&p, POLICY_FP32, tile, W));
    }
    out->verdict = verdict_of(none && some);
    snprintf(out->computed, sizeof out->computed, "0 against %s bytes", grouped(partial).text);
    if (!none)
        snprintf(out->computed, sizeof out->computed, "split-Q exchanges");
    explain(out, "A block of %d queries, %d keys in tiles of %d, head size %d, call by call:\n",
            tile, keys, tile, D);
    explain(out, "%s", lines.explain != NULL ? lines.explain : "");
    explain(out,
            "Split-Q keeps its barriers for the tiles of K and V; what goes is the exchange.\n");
    claim_outcome_free(&lines);
    problem_free(&p);
}

/* --- A21 */

struct shared_back {
    int64_t sums, operands, waits, barriers;
};

static struct shared_back count_back(const struct problem *p, const struct tensor *dO,
                                     enum algorithm a, int tile, int warps)
{
    struct simulation s = shared_run(a, POLICY_GPU_BF16, tile, warps);
    struct head h = problem_head(p, 0);
    struct exchange e;
    struct shared_back back = {0};
    exchange_count_backward(&s, &h, dO, &e);
    for (int w = 0; w < warps; w++) {
        back.sums += e.warp[w].sums;
        back.operands += e.warp[w].reads + e.warp[w].writes - e.warp[w].sums;
    }
    back.waits = e.warp[0].waits;
    back.barriers = e.barriers;
    return back;
}

/* The head's gradients by `a`'s backward pass after fa2's forward: dQ, then dK, then dV. */
static double *gradients_by(const struct problem *p, const struct tensor *dO, enum algorithm a,
                            int tile, int warps)
{
    struct simulation back = shared_run(a, POLICY_FP32, tile, warps);
    struct simulation forward = shared_run(ALGORITHM_FA2, POLICY_FP32, tile, warps);
    struct head h = problem_head(p, 0);
    struct run r;
    struct message why;
    double *all = malloc((size_t)(h.Nq + 2 * h.Nk) * (size_t)h.D * sizeof *all), *to = all;
    bool ok = all != NULL && run_new(&r, back.arith, &back.policy, back.precision, &why);
    assert(ok);
    (void)ok;
    struct attention x = simulate_head(&r, &forward, &h);
    simulate_backward(&r, &back, &x, dO);
    const struct tile *tiles[] = {x.dQ, x.dK, x.dV};
    for (int t = 0; t < 3; t++)
        for (int n = 0; n < tiles[t]->rows; n++)
            for (int d = 0; d < tiles[t]->cols; d++)
                *to++ = tile_get(&r, tiles[t], n, d);
    run_free(&r);
    return all;
}

static int64_t differing_back(const struct problem *p, const struct tensor *dO, enum algorithm a,
                              int tile, int warps)
{
    double *got = gradients_by(p, dO, a, tile, warps);
    double *want = gradients_by(p, dO, ALGORITHM_FA2, tile, warps);
    int64_t differ = 0;
    for (int64_t i = 0; i < (p->Nq + 2 * p->Nk) * p->D; i++)
        differ += got[i] != want[i];
    free(got);
    free(want);
    return differ;
}

static void say_back(struct claim_outcome *lines, const char *name, const struct shared_back *b,
                     int64_t differ, int64_t all)
{
    explain(lines, "  %-9s %9s bytes of sums, %9s of P and dS\n", name, grouped(b->sums).text,
            grouped(b->operands).text);
    explain(lines,
            "            %" PRId64 " waits, %" PRId64 " barriers; bits that differ: %s of %s\n",
            b->waits, b->barriers, grouped(differ).text, grouped(all).text);
}

void claim_a21(const struct claim_inputs *in, struct claim_outcome *out)
{
    enum { MOST_WARPS = 32, LARGEST = 256 };
    int keys = claim_whole(claim_number(in, INPUT_A21_SHAPE, 0), 1, 4096);
    int D = claim_whole(claim_number(in, INPUT_A21_SHAPE, 1), 1, LARGEST);
    int tile = claim_whole(claim_number(in, INPUT_A21_SHAPE, 2), 1, LARGEST);
    uint64_t seed = (uint64_t)claim_number(in, INPUT_A21_SEED, 0);
    struct problem p = drawn_problem(seed, tile, keys, D);
    struct tensor dO = drawn_gradient(seed + 1, &p);
    struct claim_outcome lines = {0};
    double warps[CLAIM_NUMBERS];
    int counts = claim_numbers(in, INPUT_A21_WARPS, warps, CLAIM_NUMBERS);
    int64_t all = (p.Nq + 2 * p.Nk) * D, sums = 0, waits = INT64_MAX, changed = 0;
    for (int i = 0; i < counts; i++) {
        int W = claim_whole(warps[i], 1, MOST_WARPS);
        struct shared_back q = count_back(&p, &dO, ALGORITHM_SPLITQ, tile, W);
        struct shared_back k = count_back(&p, &dO, ALGORITHM_SPLITK, tile, W);
        int64_t by_rows = differing_back(&p, &dO, ALGORITHM_SPLITQ, tile, W);
        sums += q.sums;
        changed += by_rows;
        waits = q.waits < waits ? q.waits : waits;
        explain(&lines, "  %d warps\n", W);
        say_back(&lines, "by rows", &q, by_rows, all);
        say_back(&lines, "by keys", &k, differing_back(&p, &dO, ALGORITHM_SPLITK, tile, W), all);
    }
    out->verdict = verdict_both(verdict_of(sums == 0 && changed == 0), verdict_of(waits > 0));
    snprintf(out->computed, sizeof out->computed, "%s bytes of sums; %" PRId64 " waits",
             grouped(sums).text, waits);
    explain(out, "A block of %d queries, %d keys in tiles of %d, head size %d, backward:\n", tile,
            keys, tile, D);
    explain(out, "%s", lines.explain != NULL ? lines.explain : "");
    explain(out,
            "By rows, as FlashAttention-2: no sum is cut, so no bit changes, but dK and dV need "
            "P and dS of all rows: every pair of tiles waits once.\n");
    explain(out, "By keys, as FlashAttention-1: dQ is split-K, a part from each warp.\n");
    claim_outcome_free(&lines);
    tensor_free(&dO);
    problem_free(&p);
}
