/* claims_splits.c: the claims of the post on H200, B200 and an SM120 card about which tokens form a
   group: FlashAttention-2, Triton, XQA, TensorRT-LLM. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "simulator/claims_parts.h"
#include "simulator/scenario_parts.h"
#include "simulator/splits_parts.h"

/* One decode step: tokens, KV heads, head size, from an input. */
static struct launch step_of(const struct claim_inputs *in, enum claim_input i, double sms)
{
    int64_t heads = (int64_t)claim_number(in, i, 1);
    return (struct launch){.batch = 1,
                           .heads_q = heads,
                           .heads_kv = heads,
                           .len_q = 1,
                           .dim = (int64_t)claim_number(in, i, 2),
                           .longest = (int64_t)claim_number(in, i, 0),
                           .shortest = -1,
                           .sms = (int)sms};
}

/* False: inputs that make no launch; the outcome says so. */
static bool planned(enum split_rule rule, const char *version, const struct launch *l,
                    struct split_plan *p, struct claim_outcome *out)
{
    struct message why;
    if (split_plan(rule, version, l, p, &why))
        return true;
    out->verdict = VERDICT_FAILS;
    snprintf(out->computed, sizeof out->computed, "no launch");
    explain(out, "No launch: %s.\n", why.text);
    return false;
}

/* "54, 62, 87": appends to the computed text. */
static void add_computed(struct claim_outcome *out, bool first, int64_t x)
{
    size_t used = first ? 0 : strlen(out->computed);
    snprintf(out->computed + used, sizeof out->computed - used, "%s%" PRId64, first ? "" : ", ", x);
}

/* The rule without its test of eligibility: what the test is there for. */
static int without_eligibility(const struct split_plan *p)
{
    const struct split_weighing *w = &p->weighing;
    float best = 0;
    int s = 1;
    for (int n = 1; n <= w->most; n++) {
        float e = split_fa2_efficiency(w->work, w->capacity, n);
        best = e > best ? e : best;
    }
    while (s < w->most &&
           (double)split_fa2_efficiency(w->work, w->capacity, s) < 0.85 * (double)best)
        s++;
    return s;
}

void claim_c3(const struct claim_inputs *in, struct claim_outcome *out)
{
    double sms[CLAIM_NUMBERS];
    int count = claim_numbers(in, INPUT_C3_SMS, sms, CLAIM_NUMBERS);
    out->verdict = VERDICT_HOLDS;
    explain(out, "The smallest eligible count that reaches 85 %% of the best efficiency:\n");
    for (int i = 0; i < count; i++) {
        struct launch l = step_of(in, INPUT_C3_LAUNCH, sms[i]);
        struct split_plan p, before;
        if (!planned(SPLIT_RULE_FA2_SPLIT, "2.5.7", &l, &p, out) ||
            !planned(SPLIT_RULE_FA2_SPLIT, "2.5.6", &l, &before, out))
            return;
        enum verdict_word v = claim_figure(in, INPUT_C3_GROUPS, i, p.splits);
        out->verdict = i == 0 ? v : verdict_both(out->verdict, v);
        add_computed(out, i == 0, p.splits);
        explain(out,
                "  %3d SMs  %2d groups of %" PRId64 " blocks; %" PRId64 "/%" PRId64
                ", efficiency %.3f of %.3f\n",
                (int)sms[i], p.splits, p.blocks_per_split, p.weighing.work * p.splits,
                p.weighing.capacity, (double)p.weighing.efficiency,
                (double)p.weighing.best_efficiency);
        explain(out, "           %2d if counts that leave the last group empty were eligible\n",
                without_eligibility(&p));
        explain(out, "           %2d before v2.5.7, whose capacity was one group per SM\n",
                before.splits);
    }
}

void claim_c4(const struct claim_inputs *in, struct claim_outcome *out)
{
    double sms[CLAIM_NUMBERS];
    int count = claim_numbers(in, INPUT_C4_SMS, sms, CLAIM_NUMBERS);
    out->verdict = VERDICT_HOLDS;
    explain(out, "Contiguous groups of whole blocks begin at multiples of one number:\n");
    for (int i = 0; i < count; i++) {
        struct launch l = step_of(in, INPUT_C4_LAUNCH, sms[i]);
        struct split_plan p;
        struct token_range second, last;
        if (!planned(SPLIT_RULE_FA2_SPLIT, NULL, &l, &p, out))
            return;
        int live = split_live(&p, l.longest);
        bool several = live > 1 && split_range(&p, l.longest, 1, 0, &second) &&
                       split_range(&p, l.longest, live - 1, 0, &last);
        enum verdict_word v =
            several ? claim_figure(in, INPUT_C4_SECOND, i, (double)second.first) : VERDICT_FAILS;
        out->verdict = i == 0 ? v : verdict_both(out->verdict, v);
        add_computed(out, i == 0, several ? second.first : l.longest);
        if (several)
            explain(out, "  %3d SMs  0 %s %s ... %s, where the last has %s tokens\n", (int)sms[i],
                    grouped(second.first).text, grouped(2 * second.first).text,
                    grouped(last.first).text, grouped(last.last - last.first).text);
    }
}

void claim_c8(const struct claim_inputs *in, struct claim_outcome *out)
{
    struct launch l = step_of(in, INPUT_C8_LAUNCH, 0);
    struct split_plan p;
    int64_t most = (int64_t)claim_number(in, INPUT_C8_SEARCHED, 0), fewer = 0, last = 0;
    int64_t example = (int64_t)claim_number(in, INPUT_C8_SHORT, 0);
    if (!planned(SPLIT_RULE_TRITON_DECODE, NULL, &l, &p, out))
        return;
    int groups = split_live(&p, l.longest), few = split_live(&p, example);
    for (int64_t length = 1; length <= most; length++)
        if (split_live(&p, length) != groups) {
            fewer++;
            last = length;
        }
    enum verdict_word v = claim_figure(in, INPUT_C8_GROUPS, 0, groups);
    out->verdict = v == VERDICT_HOLDS && fewer > 0 ? VERDICT_PARTLY : v;
    snprintf(out->computed, sizeof out->computed, "%d; %d at %s", groups, few,
             grouped(example).text);
    explain(out, "%d segments are launched; of 1 to %s tokens, %s lengths fill fewer.\n", groups,
            grouped(most).text, grouped(fewer).text);
    explain(out, "  %s tokens  %d groups of %s, the last of %s\n", grouped(l.longest).text, groups,
            grouped(split_tokens(&p, l.longest, 0)).text,
            grouped(split_tokens(&p, l.longest, groups - 1)).text);
    explain(out, "  %s tokens  %d groups of %s; longest with fewer than %d: %s\n",
            grouped(example).text, few, grouped(split_tokens(&p, example, 0)).text, groups,
            grouped(last).text);
}

/* "groups 0-8 have 4 tiles, the others 3": how many groups have as many tiles as the first. */
static void explain_rounds(const struct split_plan *p, int64_t length, struct claim_outcome *out)
{
    int64_t tiles = ceil_div(length, p->block_tokens), rest = tiles % p->splits,
            each = tiles / p->splits;
    int owner = split_owner(p, length, length - 1);
    explain(out,
            "  %d groups: the first %" PRId64 " have %" PRId64 " tiles, others %" PRId64
            "; tile %" PRId64 " is in group %d\n",
            p->splits, rest > 0 ? rest : p->splits, rest > 0 ? each + 1 : each, each, tiles - 1,
            owner);
}

void claim_c9(const struct claim_inputs *in, struct claim_outcome *out)
{
    double sms[CLAIM_NUMBERS];
    int count = claim_numbers(in, INPUT_C9_SMS, sms, CLAIM_NUMBERS);
    out->verdict = VERDICT_HOLDS;
    explain(out, "min(SMs / (batch x KV heads), tiles of 256); tile t is of group t mod that:\n");
    for (int i = 0; i < count; i++) {
        struct launch l = step_of(in, INPUT_C9_LAUNCH, sms[i]);
        struct split_plan p;
        if (!planned(SPLIT_RULE_XQA, NULL, &l, &p, out))
            return;
        enum verdict_word v = claim_figure(in, INPUT_C9_GROUPS, i, p.splits);
        v = p.order == GROUPS_ROUND_ROBIN ? v : VERDICT_FAILS;
        out->verdict = i == 0 ? v : verdict_both(out->verdict, v);
        add_computed(out, i == 0, p.splits);
        explain_rounds(&p, l.longest, out);
    }
}

void claim_c10(const struct claim_inputs *in, struct claim_outcome *out)
{
    struct launch l = step_of(in, INPUT_C10_LAUNCH, claim_number(in, INPUT_C10_SMS, 0));
    struct split_plan p;
    int64_t tile = (int64_t)claim_number(in, INPUT_C10_TILE, 0);
    if (!planned(SPLIT_RULE_TRTLLM_REDUCER, NULL, &l, &p, out))
        return;
    int64_t tiles = tile > 0 ? ceil_div(l.longest, tile) : 0;
    bool a_tile_each = p.splits == tiles;
    out->verdict = a_tile_each ? VERDICT_HOLDS : VERDICT_PARTLY;
    snprintf(out->computed, sizeof out->computed, "<= %d, not %s", p.splits, grouped(tiles).text);
    explain(out, "At most %d partials (SMs / KV heads), where tiles of %" PRId64 " would be %s.\n",
            p.splits, tile, grouped(tiles).text);
    explain(out,
            "The reducer reads min(ceil(length / %" PRId64 "), KV CTAs) partials: %" PRId64
            " is a bound there.\n",
            p.block_tokens, p.block_tokens);
}

/* How the kernels of one step group it, and whether any two do so alike. */
static bool all_different(const struct claim_inputs *in, struct claim_outcome *out)
{
    static const enum split_rule rules[] = {SPLIT_RULE_FA2_SPLIT, SPLIT_RULE_TRITON_DECODE,
                                            SPLIT_RULE_XQA, SPLIT_RULE_TRTLLM_REDUCER};
    enum { RULES = sizeof rules / sizeof rules[0] };
    struct split_plan p[RULES];
    bool different = true;
    for (int i = 0; i < RULES; i++) {
        struct launch l = step_of(in, INPUT_C16_LAUNCH, claim_number(in, INPUT_C16_LAUNCH, 3));
        if (!planned(rules[i], NULL, &l, &p[i], out))
            return false;
        explain(out, "  %-15s %s%d groups, %s\n", split_rule_info(rules[i])->name,
                p[i].bound ? "at most " : "", p[i].splits,
                p[i].bound                         ? "of which tokens is not established"
                : p[i].order == GROUPS_ROUND_ROBIN ? "round robin"
                                                   : "contiguous");
        for (int k = 0; k < i; k++)
            different = different && !split_alike(&p[i], &p[k], l.longest);
    }
    return different;
}

void claim_c16(const struct claim_inputs *in, struct claim_outcome *out)
{
    double major[CLAIM_NUMBERS], names = claim_number(in, INPUT_C16_NAMES, 0),
                                 own = claim_number(in, INPUT_C16_TRTLLM, 0);
    int count = claim_numbers(in, INPUT_C16_MAJORS, major, CLAIM_NUMBERS), trtllm = 0;
    for (int i = 0; i < count; i++)
        trtllm += major[i] == own;
    int kinds = (trtllm > 0) + (trtllm < count);
    double algorithms = names - 1 + kinds;
    snprintf(out->computed, sizeof out->computed, "%.0f", algorithms);
    explain(out, "FlashInfer is XQA on %d of these GPUs, trtllm-gen on %d: %.0f - 1 + %d = %.0f.\n",
            count - trtllm, trtllm, names, kinds, algorithms);
    explain(out, "One step of one sequence on one GPU, by each:\n");
    bool different = all_different(in, out);
    bool figure = claim_figure(in, INPUT_C16_ALGORITHMS, 0, algorithms) == VERDICT_HOLDS;
    out->verdict = figure && different ? VERDICT_HOLDS : VERDICT_FAILS;
}
