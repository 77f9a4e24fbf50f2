/* paged.c: vLLM's PagedAttention v1 and v2: csrc/attention/attention_kernels.cuh
   (paged_attention_kernel, paged_attention_v2_reduce_kernel), attention_utils.cuh.

   No tensor core.  A few lanes share a key's dot product, 128 threads share a partition's tokens.
   Weights are normalised before P V, where each product is rounded to the inputs' format.  Which page
   holds a block moves no operation: the model sees the logical tokens. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/kernels/exponential.h"
#include "simulator/simulate.h"

enum { PARTITION = 512, WARPS = 4, THREADS = 128 };

/* Tokens of a page, from the switch. */
static int page_tokens(const struct kernel_choice *c)
{
    static const int pages[] = {16, 8, 32};
    return pages[c->option[KERNEL_OPTION_PAGED_V2_PAGE]];
}

/* Lanes that share a key's dot product, and elements a lane takes at once: 16 bytes for all of them. */
static int sharing_lanes(const struct kernel_choice *c)
{
    return 32 / page_tokens(c) > 1 ? 32 / page_tokens(c) : 1;
}

static int vector_elements(const struct kernel_choice *c)
{
    return 8 / sharing_lanes(c);
}

void paged_tiles(const struct kernel_choice *c, const struct problem *p, int *Br, int *Bc)
{
    bool single = c->plan.splits == 1; /* v1: all tokens are one partition */
    *Br = p->Nq >= 1 && p->Nq < 64 ? (int)p->Nq : 64;
    *Bc = PARTITION;
    if (single && c->plan.length > PARTITION)
        *Bc = (int)((c->plan.length + PARTITION - 1) / PARTITION * PARTITION);
}

/* Appends to a tree's text. */
struct tree_text {
    char *text;
    size_t used, room;
};

static void put(struct tree_text *t, const char *words)
{
    size_t length = strlen(words);
    if (t->used + length + 1 > t->room) {
        t->room = 2 * (t->room + length + 64);
        t->text = realloc(t->text, t->room);
        if (t->text == NULL)
            abort();
    }
    memcpy(t->text + t->used, words, length + 1);
    t->used += length;
}

/* One lane's dot of `count` products from `first` on: by pairs, or a chain. */
static void put_vector(struct tree_text *t, int first, int count, bool chain)
{
    char number[16];
    if (count == 1) {
        snprintf(number, sizeof number, "%d", first);
        put(t, number);
        return;
    }
    put(t, "(");
    if (chain)
        for (int n = 0; n < count; n++) {
            put(t, n > 0 ? " " : "");
            put_vector(t, first + n, 1, chain);
        }
    else {
        put_vector(t, first, count / 2, chain);
        put(t, " ");
        put_vector(t, first + count / 2, count / 2, chain);
    }
    put(t, ")");
}

/* One warp: its lanes walk pages warp, warp + 4, ...; the lanes of a row are then added by halves. */
static void put_warp(struct tree_text *t, int lane, int lanes, int warp, int page, int tokens,
                     bool chain)
{
    int width = page < 8 ? page : 8;
    if (lanes > 1) { /* butterfly, larger offsets first: lane and lane + lanes / 2, recursively */
        int stride = page / width / lanes;
        put(t, "(");
        put_warp(t, lane, lanes / 2, warp, page, tokens, chain);
        put(t, " ");
        put_warp(t, lane + stride, lanes / 2, warp, page, tokens, chain);
        put(t, ")");
        return;
    }
    put(t, "(");
    for (int first = warp * page; first < tokens; first += WARPS * page) {
        put(t, first > warp * page ? " " : "");
        put_vector(t, first + lane * width, width, chain);
    }
    put(t, ")");
}

/* How an output element is summed over a partition: warps 2 and 3 into 0 and 1, then 1 into 0. */
static bool set_output_order(const struct kernel_choice *c, int tokens, struct policy *policy,
                             struct message *why)
{
    int page = page_tokens(c), width = page < 8 ? page : 8;
    bool chain = c->option[KERNEL_OPTION_PAGED_V2_VALUES] == 1;
    struct tree_text t = {NULL, 0, 0};
    static const int warps[WARPS] = {0, 2, 1, 3};
    put(&t, "OUT_ACC=tree:(");
    for (int n = 0; n < WARPS; n++) {
        put(&t, n % 2 == 0 ? (n > 0 ? " (" : "(") : " ");
        put_warp(&t, 0, page / width, warps[n], page, tokens, chain);
        put(&t, n % 2 == 1 ? ")" : "");
    }
    put(&t, ")");
    bool ok = policy_order(policy, t.text, why);
    free(t.text);
    return ok;
}

bool paged_adjust(const struct kernel_choice *c, const struct problem *p, struct policy *policy,
                  struct message *why)
{
    int Br, Bc;
    char text[64];
    paged_tiles(c, p, &Br, &Bc);
    snprintf(text, sizeof text, "ROW_SUM=lanes:mod%d:16,8,4,2,1,64,32", THREADS);
    if (!policy_order(policy, text, why))
        return false;
    snprintf(text, sizeof text, "COMBINE_SUM=lanes:mod%d:16,8,4,2,1,64,32", THREADS);
    return policy_order(policy, text, why) && set_output_order(c, Bc, policy, why);
}

struct paged {
    struct tile *Q, *K, *V, *S, *P, *m, *l, *inverse, *O, *L;
    struct tile *scale, *log2e, *epsilon;
    struct tile *queries, *keys, *column_q, *column_k, *share, *lane[4]; /* of one component */
    int page, lanes, vector, parts;
};

static void paged_new(struct run *r, const struct attention *x, struct paged *s)
{
    const struct kernel_choice *c = x->choices.kernel;
    const struct scale *scale = &x->head->problem->scale;
    int D = (int)x->head->D, Br = x->choices.Br, Bc = x->choices.Bc;
    s->page = page_tokens(c);
    s->lanes = sharing_lanes(c);
    s->vector = vector_elements(c);
    s->parts = s->lanes * s->vector;
    s->Q = tile_new(r, TENSOR_Q, Br, D);
    s->K = tile_new(r, TENSOR_K, Bc, D);
    s->V = tile_new(r, TENSOR_V, Bc, D);
    s->S = tile_new(r, TENSOR_S, Br, Bc);
    s->P = tile_new(r, TENSOR_P, Br, Bc);
    s->m = tile_new(r, TENSOR_M, Br, 1);
    s->l = tile_new(r, TENSOR_L_SUM, Br, 1);
    s->inverse = tile_new(r, TENSOR_SCRATCH, Br, 1);
    s->O = tile_new(r, TENSOR_O, Br, D);
    s->L = tile_new(r, TENSOR_LSE, Br, 1);
    s->queries = tile_new(r, TENSOR_Q, Br, D / s->parts);
    s->keys = tile_new(r, TENSOR_K, Bc, D / s->parts);
    s->column_q = tile_new(r, TENSOR_Q, Br, 1);
    s->column_k = tile_new(r, TENSOR_K, Bc, 1);
    s->share = tile_new(r, TENSOR_S, Br, Bc);
    for (int n = 0; n < s->lanes; n++)
        s->lane[n] = tile_new(r, TENSOR_S, Br, Bc);
    s->scale = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->log2e = tile_new(r, TENSOR_CONSTANT, 1, 1);
    s->epsilon = tile_new(r, TENSOR_CONSTANT, 1, 1);
    constant(r, s->scale, (struct real){scale->value, scale->root, REAL_PLAIN});
    constant(r, s->log2e, (struct real){1, 1, REAL_TIMES_LOG2E});
    bool none = c->option[KERNEL_OPTION_PAGED_V2_EPSILON] == 1;
    constant(r, s->epsilon, (struct real){none ? 0 : 1e-6, 1, REAL_PLAIN});
}

/* Every lane's every component is a chain over the vectors the lane takes: elements
   component + vector (lane + lanes v), v ascending. */
static void component(struct run *r, struct paged *s, int lane, int element, struct tile *dst)
{
    for (int v = 0; v < s->queries->cols; v++) {
        int column = element + s->vector * (lane + s->lanes * v);
        take_block(r, s->column_q, s->Q, 0, column);
        put_block(r, s->queries, 0, v, s->column_q);
        take_block(r, s->column_k, s->K, 0, column);
        put_block(r, s->keys, 0, v, s->column_k);
    }
    mma_abt(r, dst, s->queries, s->keys, SITE_SCORE_ACC);
}

/* A lane adds its vector's components in a chain; the lanes a butterfly, larger offsets first. */
static void dots(struct run *r, struct paged *s)
{
    for (int lane = 0; lane < s->lanes; lane++)
        for (int element = 0; element < s->vector; element++) {
            component(r, s, lane, element, element == 0 ? s->lane[lane] : s->share);
            if (element > 0)
                add(r, s->lane[lane], s->lane[lane], s->share, SITE_SCORE_ACC);
        }
    for (int offset = s->lanes / 2; offset >= 1; offset /= 2)
        for (int lane = 0; lane < offset; lane++)
            add(r, s->lane[lane], s->lane[lane], s->lane[lane + offset], SITE_SCORE_ACC);
    copy(r, s->S, s->lane[0]);                                          note(r, STEP_QK, s->S);
}

/* y = 1 / (y + 1e-6), by the fast division. */
static void guarded_inverse(struct run *r, struct paged *s, struct tile *y, enum site sum)
{
    add(r, y, y, s->epsilon, sum);
    rcp(r, y, y, SITE_NORMALIZE);
}

/* One partition: O normalised, m and l. */
static void attend_partition(struct run *r, const struct attention *x, struct paged *s, int i, int j)
{
    struct visible visible = visible_tile(x, i, j);
    r->where.j = r->where.split = (uint32_t)j;
    load_k(r, x, s->K, j);
    load_v(r, x, s->V, j);
    dots(r, s);
    mul(r, s->S, s->S, s->scale, SITE_SCORE);                           note(r, STEP_SCALE, s->S);
    mask(r, s->S, &visible); /* tokens past the end: passed over, and +0 in every sum */
    fill(r, s->m, -FLT_MAX);
    row_max(r, s->m, s->S);                                             note(r, STEP_ROW_MAX, s->m);
    copy(r, s->P, s->S);
    exponential(r, s->P, s->m, s->log2e, SITE_EXP_ARG, SITE_EXP);       note(r, STEP_EXP, s->P);
    fill(r, s->l, 0);
    row_sum(r, s->l, s->P, SITE_ROW_SUM);                               note(r, STEP_ROW_SUM, s->l);
    copy(r, s->inverse, s->l);
    guarded_inverse(r, s, s->inverse, SITE_ROW_SUM);
    mul(r, s->P, s->P, s->inverse, SITE_NORMALIZE);                     note(r, STEP_WEIGHT, s->P);
    round_at(r, s->P, SITE_PROB);                                       note(r, STEP_ROUND_P, s->P);
    fill(r, s->O, 0);
    mma_ab(r, s->O, s->P, s->V, SITE_PV_PRODUCT, SITE_OUT_ACC);         note(r, STEP_PV, s->O);
    round_at(r, s->O, SITE_PARTIAL_OUT);                                note(r, STEP_STORE, s->O);
    round_at(r, s->m, SITE_PARTIAL_STAT);
    round_at(r, s->l, SITE_PARTIAL_STAT);
}

/* What the partitions leave, and how they are weighed: columns, one a partition. */
struct partitions {
    struct tile *O, *M, *L, *part, *weight, *top, *total, *inverse;
    int count;
};

static void partitions_new(struct run *r, const struct attention *x, int count, struct partitions *g)
{
    int Br = x->choices.Br, D = (int)x->head->D;
    g->count = count;
    g->O = tile_new(r, TENSOR_O, count * Br, D);
    g->M = tile_new(r, TENSOR_M, Br, count);
    g->L = tile_new(r, TENSOR_L_SUM, Br, count);
    g->part = tile_new(r, TENSOR_O, Br, D);
    g->weight = tile_new(r, TENSOR_DECAY, Br, 1);
    g->top = tile_new(r, TENSOR_M, Br, 1);
    g->total = tile_new(r, TENSOR_L_SUM, Br, 1);
    g->inverse = tile_new(r, TENSOR_SCRATCH, Br, 1);
}

/* r_j = l_j e^(m_j - m) in place of l_j; their sum; then the outputs in ascending order. */
static void reduce(struct run *r, struct paged *s, struct partitions *g)
{
    fill(r, g->top, -FLT_MAX);
    row_max(r, g->top, g->M);                                           note(r, STEP_ROW_MAX, g->top);
    sub(r, g->M, g->M, g->top, SITE_COMBINE_ARG);
    exp_(r, g->M, g->M, SITE_COMBINE_WEIGHT); /* the accurate expf */
    mul(r, g->L, g->L, g->M, SITE_COMBINE_WEIGHT);
    fill(r, g->total, 0);
    row_sum(r, g->total, g->L, SITE_COMBINE_SUM);                       note(r, STEP_ROW_SUM, g->total);
    copy(r, g->inverse, g->total);
    guarded_inverse(r, s, g->inverse, SITE_COMBINE_SUM);
    fill(r, s->O, 0);
    for (int n = 0; n < g->count; n++) {
        take_block(r, g->part, g->O, n * s->O->rows, 0);
        take_block(r, g->weight, g->L, 0, n);
        mul(r, g->part, g->part, g->weight, SITE_COMBINE_ACC);
        fma_(r, s->O, g->part, g->inverse, s->O, SITE_COMBINE_ACC);     note(r, STEP_COMBINE, s->O);
    }
    copy(r, s->l, g->total);
    copy(r, s->m, g->top);
}

void kernel_paged(struct run *r, struct attention *x)
{
    struct paged s;
    struct partitions g;
    int count = key_tiles(x);
    paged_new(r, x, &s);
    partitions_new(r, x, count, &g);
    anchor(r, NULL, 1);
    for (int i = 0; i < query_tiles(x); i++) {
        load_q(r, x, s.Q, i);
        fill(r, s.O, 0);
        fill(r, s.l, 0);
        fill(r, s.m, -FLT_MAX);
        for (int j = 0; j < count; j++) {
            attend_partition(r, x, &s, i, j);
            put_block(r, g.O, j * x->choices.Br, 0, s.O);
            put_block(r, g.M, 0, j, s.m);
            put_block(r, g.L, 0, j, s.l);
        }
        if (count > 1) /* one partition is copied */
            reduce(r, &s, &g);
        log_(r, s.L, s.l, SITE_LSE);
        add(r, s.L, s.m, s.L, SITE_LSE);                                note(r, STEP_LSE, s.L);
        round_at(r, s.O, SITE_OUT);                                     note(r, STEP_STORE, s.O);
        store(r, x, i, s.O, s.L);
    }
}
