/* claims_warps.c: the claim of the FlashAttention-2 article about the warps of a block: what they
   exchange, counted over the listings splitk and splitq, and the two roundings side by side. */
#include <inttypes.h>
#include <stdio.h>

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

static int whole(double x, int least, int most)
{
    return x < least ? least : x > most ? most : (int)x;
}

void claim_a14(const struct claim_inputs *in, struct claim_outcome *out)
{
    enum { MOST_WARPS = 32, LARGEST = 256 };
    int keys = whole(claim_number(in, INPUT_A14_SHAPE, 0), 1, 4096);
    int D = whole(claim_number(in, INPUT_A14_SHAPE, 1), 1, LARGEST);
    int tile = whole(claim_number(in, INPUT_A14_SHAPE, 2), 1, LARGEST);
    struct problem p = drawn_problem((uint64_t)claim_number(in, INPUT_A14_SEED, 0), tile, keys, D);
    struct claim_outcome lines = {0};
    bool none = true, some = true;
    int64_t partial = 0;
    double warps[CLAIM_NUMBERS];
    int counts = claim_numbers(in, INPUT_A14_WARPS, warps, CLAIM_NUMBERS);
    for (int i = 0; i < counts; i++) {
        int W = whole(warps[i], 1, MOST_WARPS);
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
