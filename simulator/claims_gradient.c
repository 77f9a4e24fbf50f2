/* claims_gradient.c: the claim of the FlashAttention-2 article about grouped query heads: what the
   forward pass reads of K and V, and what the backward pass adds up. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/claims_parts.h"
#include "simulator/scenario_parts.h"

struct grouped_run {
    const struct problem *p;      /* query heads share key heads */
    const struct problem *copies; /* a copy of K and V for every query head */
    const struct tensor *dO;
    struct claim_outcome *lines;
};

static int64_t key_bytes(const struct problem *p)
{
    return (tensor_elements(&p->k) + tensor_elements(&p->v)) * format_info(p->k.dtype)->bits / 8;
}

/* Forward: the same bits from shared K and V as from copies? */
static bool forward_alike(const struct grouped_run *g, enum policy_id policy, int tile)
{
    struct simulation s = policy_run(ALGORITHM_FA2, policy, tile);
    struct result a = claim_run(g->p, &s), b = claim_run(g->copies, &s);
    bool alike = a.digest == b.digest;
    explain(g->lines, "  %-9s %s of %s outputs: %s\n", policy_name(policy),
            alike ? "all" : "not all", grouped(a.rows * a.D).text,
            alike ? "the same bits" : "others");
    result_free(&a);
    result_free(&b);
    return alike;
}

/* dK or dV of the shared heads against sums of what the query heads bring, in fp32, in their order,
   rounded as stored. */
static int64_t unlike_sums(const struct problem *p, enum format stored, const double *shared,
                           const double *heads, int64_t *unlike_first)
{
    int64_t n = p->Nk * p->D, G = p->Hq / p->Hkv, unlike = 0;
    for (int64_t i = 0; i < p->Hkv * n; i++) {
        const double *first = heads + i / n * G * n + i % n;
        float sum = (float)first[0];
        for (int64_t h = 1; h < G; h++)
            sum += (float)first[h * n];
        unlike += shared[i] != format_round(stored, (double)sum, false);
        *unlike_first += shared[i] != first[0];
    }
    return unlike;
}

/* Backward: are dK and dV sums over the group, and no head's alone?  `first`: what each head is
   rounded to before the sum; FlashAttention-2 ships it as stored. */
static bool backward_sums(const struct grouped_run *g, enum format first, int tile)
{
    struct simulation s = policy_run(ALGORITHM_FA2, POLICY_FP32, tile);
    s.policy.site[SITE_HEAD_GRADIENT].format = first;
    struct gradients shared = claim_gradients(g->p, g->dO, &s);
    s.policy.site[SITE_GRADIENT].format = first; /* a head alone is stored, not summed */
    struct gradients heads = claim_gradients(g->copies, g->dO, &s);
    int64_t n = g->p->Hkv * g->p->Nk * g->p->D, alone = 0;
    int64_t unlike = unlike_sums(g->p, FORMAT_FP32, shared.dK, heads.dK, &alone) +
                     unlike_sums(g->p, FORMAT_FP32, shared.dV, heads.dV, &alone);
    explain(g->lines, "  heads in %-5s unlike the sum: %s of %s; unlike one head alone: %s\n",
            format_info(first)->name, grouped(unlike).text, grouped(2 * n).text,
            grouped(alone).text);
    gradients_free(&shared);
    gradients_free(&heads);
    return unlike == 0 && alone > 0;
}

void claim_a15(const struct claim_inputs *in, struct claim_outcome *out)
{
    enum { MOST = 256 };
    static const enum policy_id policies[] = {POLICY_FP32, POLICY_GPU_BF16, POLICY_GPU_FP16};
    static const enum format formats[] = {FORMAT_FP32, FORMAT_BF16};
    int shape[5], alike = 0, sums = 0;
    for (int i = 0; i < 5; i++)
        shape[i] = claim_whole(claim_number(in, INPUT_A15_SHAPE, i), 1, i < 2 ? 16 : MOST);
    int tile = claim_whole(claim_number(in, INPUT_A15_TILE, 0), 1, MOST);
    uint64_t seed = (uint64_t)claim_number(in, INPUT_A15_SEED, 0);
    struct problem p = drawn_group(seed, shape[0], shape[1], shape[2], shape[3], shape[4]);
    struct problem copies = copied_keys(&p);
    struct tensor dO = drawn_gradient(seed + 1, &p);
    struct claim_outcome lines = {0};
    struct grouped_run g = {&p, &copies, &dO, &lines};
    explain(&lines, "Forward, K and V shared (%s bytes) against copied (%s bytes):\n",
            grouped(key_bytes(&p)).text, grouped(key_bytes(&copies)).text);
    for (int i = 0; i < 3; i++)
        alike += forward_alike(&g, policies[i], tile);
    explain(&lines, "Backward, dK and dV against sums in fp32 over the %d query heads:\n",
            shape[0]);
    for (int i = 0; i < 2; i++)
        sums += backward_sums(&g, formats[i], tile);
    out->verdict = verdict_both(verdict_of(alike == 3), verdict_of(sums == 2));
    snprintf(out->computed, sizeof out->computed, "%d of 3 alike; sums of %d, %d of 2", alike,
             shape[0], sums);
    explain(out,
            "%s query heads on %d key heads, %d queries, %d keys in tiles of %d, head size %d.\n",
            grouped(p.Hq).text, shape[1], shape[2], shape[3], tile, shape[4]);
    explain(out, "%s", lines.explain);
    explain(out, "Heads in bf16 are as FlashAttention-2 ships: each head's dK and dV are rounded "
                 "before PyTorch sums them, in an order that is not established.\n");
    claim_outcome_free(&lines);
    tensor_free(&dO);
    problem_free(&copies);
    problem_free(&p);
}
