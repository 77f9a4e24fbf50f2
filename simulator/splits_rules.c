/* splits_rules.c: the schedule rules of vLLM, SGLang, FlashInfer and TensorRT-LLM, and the teaching
   form; each in the words of its source (splits.def names it). */
#include <math.h>

#include "simulator/splits_parts.h"

/* vLLM: one token of every sequence, few sequences: 16 segments of whole tiles of their own length.
   The 2D path works through a sequence without splitting it. */
bool split_triton(const struct launch *l, int factor, struct split_plan *p, struct message *why)
{
    enum { AUTO = 1, WHOLE = 2, SEQUENCES = 128 };
    int64_t path = split_option(l, SPLIT_OPTION_TRITON_PATH),
            tile = split_option(l, SPLIT_OPTION_TRITON_TILE);
    (void)factor;
    if (tile != 16 && tile != 32)
        return refuse(why, "a tile has 16 or 32 tokens");
    bool whole = path == WHOLE || (path == AUTO && l->batch > SEQUENCES / l->heads_kv);
    p->splits = whole ? 1 : (int)split_option(l, SPLIT_OPTION_TRITON_SEGMENTS);
    p->block_tokens = tile;
    p->length = l->longest;
    p->own_length = true;
    return true;
}

/* floor(cores x max(log2(x), 1)) in fp32, with the logarithm moved by `ulps` of fp32. */
static int64_t stretched_cores(int cores, float x, int ulps)
{
    float power = (float)log2((double)x);
    for (int i = 0; i < (ulps < 0 ? -ulps : ulps); i++)
        power = nextafterf(power, ulps < 0 ? -INFINITY : INFINITY);
    return (int64_t)((float)cores * (power > 1 ? power : 1));
}

/* SGLang: the larger of two counts: one from how uneven the batch is, one from how many programs
   the GPU wants, which grows with the logarithm of the length. */
static void sglang_chunks(const struct launch *l, struct split_plan *p)
{
    enum { ROWS = 16, SLACK = 8 }; /* lg2.approx is good to a few ulps; more is asked for here */
    int64_t most = split_option(l, SPLIT_OPTION_SGLANG_MOST), group = l->heads_q / l->heads_kv;
    int64_t shortest = l->shortest < 0 ? l->longest : l->shortest, programs, by_cores[3];
    if (l->longest * 8 < shortest * 10)
        shortest = l->longest;
    programs = l->batch * (group == 1 ? l->heads_q : ceil_div(l->heads_q, smaller(ROWS, group)));
    for (int i = 0; i < 3; i++) {
        float tiles = (float)l->longest / 64;
        int64_t cores = stretched_cores(l->sms, tiles, (i - 1) * SLACK);
        by_cores[i] = ceil_div(cores, programs);
    }
    p->by_device = by_cores[1];
    for (int i = 0; i < 3; i++)
        by_cores[i] = smaller(by_cores[i], most);
    p->undecided = by_cores[0] != by_cores[2] || shortest == 0;
    int64_t uneven = shortest > 0 ? smaller(ceil_div(l->longest, shortest), most) : most;
    p->chunk[0] = ceil_div(l->longest, uneven);
    p->chunk[1] = ceil_div(l->longest, by_cores[1]);
}

bool split_sglang(const struct launch *l, int factor, struct split_plan *p, struct message *why)
{
    enum { TILE = 32 };
    int64_t chunk = split_option(l, SPLIT_OPTION_SGLANG_CHUNK);
    (void)factor, (void)why;
    p->block_tokens = TILE;
    p->length = l->longest;
    p->own_length = true;
    p->splits = l->num_splits;
    if (l->num_splits > 0)
        return true;
    if (chunk > 0)
        p->chunk[0] = p->chunk[1] = chunk;
    else if (l->longest > 0)
        sglang_chunks(l, p);
    p->splits = split_count(p, l->longest);
    return true;
}

/* vLLM: v1 does not split; it is taken for short caches of which there are few or many. */
bool split_paged(const struct launch *l, int factor, struct split_plan *p, struct message *why)
{
    enum { PARTITION = 512, SHORT = 8192, MANY = 512 };
    int64_t longest = launch_capacity(l), partitions = ceil_div(longest, PARTITION);
    bool v1 = longest <= SHORT && (partitions <= 1 || l->batch * l->heads_q > MANY);
    (void)factor, (void)why;
    p->splits = v1 ? 1 : (int)partitions;
    p->block_tokens = v1 ? larger(longest, 1) : PARTITION;
    p->length = longest;
    return true;
}

/* FlashInfer: as many CTAs per (sequence, KV head) as SMs are there; CTA i takes tiles i, i + N .. */
bool split_xqa(const struct launch *l, int factor, struct split_plan *p, struct message *why)
{
    enum { TILE = 256 };
    int64_t share = larger(1, l->sms / (l->batch * l->heads_kv));
    (void)factor, (void)why;
    p->block_tokens = TILE;
    p->length = launch_capacity(l);
    p->by_device = share;
    p->splits = (int)larger(1, smaller(share, ceil_div(p->length, TILE)));
    return true;
}

/* TensorRT-LLM: the host's bounds on the KV CTAs, and 128 tokens a partial as the reducer's. */
bool split_trtllm(const struct launch *l, int factor, struct split_plan *p, struct message *why)
{
    enum { PARTIAL = 128 };
    int64_t step = split_option(l, SPLIT_OPTION_TRTLLM_STEP), length = launch_capacity(l);
    int64_t ctas = larger(1, l->sms / (l->batch * l->heads_kv));
    (void)factor, (void)why;
    p->by_device = ctas;
    if (step > 0)
        ctas = smaller(ctas, larger(1, ceil_div(length, 2 * step)));
    p->splits = (int)larger(1, smaller(ctas, ceil_div(length, PARTIAL)));
    p->block_tokens = PARTIAL;
    p->length = length;
    p->bound = true;
    if (split_option(l, SPLIT_OPTION_TRTLLM_ORDER) == 2)
        p->order = GROUPS_ROUND_ROBIN;
    return true;
}

bool split_decode(const struct launch *l, int factor, struct split_plan *p, struct message *why)
{
    (void)factor;
    if (l->num_splits == 0)
        return refuse(why, "decode groups as it is told: give the number of splits");
    p->splits = l->num_splits;
    p->block_tokens = split_option(l, SPLIT_OPTION_DECODE_BLOCK);
    p->length = l->longest;
    p->own_length = true;
    if (split_option(l, SPLIT_OPTION_DECODE_ORDER) == 2)
        p->order = GROUPS_ROUND_ROBIN;
    return true;
}
