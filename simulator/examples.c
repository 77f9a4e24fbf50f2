/* examples.c: the problems of examples.def, built exactly, and the figures printed for fa2-4. */
#include "simulator/examples.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* q, k, v of one head, in bf16. */
struct single {
    struct tensor q, k, v;
};

static bool single_new(struct single *x, int64_t keys, int64_t D, struct message *why)
{
    const int64_t one[TENSOR_MAX_RANK] = {1, 1, 1, D}, many[TENSOR_MAX_RANK] = {1, 1, keys, D};
    *x = (struct single){0};
    return tensor_new(&x->q, FORMAT_BF16, TENSOR_MAX_RANK, one, why) &&
           tensor_new(&x->k, FORMAT_BF16, TENSOR_MAX_RANK, many, why) &&
           tensor_new(&x->v, FORMAT_BF16, TENSOR_MAX_RANK, many, why);
}

/* The problem of x, which is freed unless the problem took it over. */
static bool single_problem(struct problem *p, struct single *x, double scale, struct message *why)
{
    struct problem_options options = problem_defaults();
    options.scale_given = true;
    options.scale = scale;
    bool ok = problem_new(p, &x->q, &x->k, &x->v, &options, why);
    tensor_free(&x->q);
    tensor_free(&x->k);
    tensor_free(&x->v);
    return ok;
}

static bool single_refused(struct single *x)
{
    tensor_free(&x->q);
    tensor_free(&x->k);
    tensor_free(&x->v);
    return false;
}

/* One key, q = k = v = 133120 in all 16 places, scale 1/4: the score is 16 * 133120^2 / 4. */
static bool build_m8(struct problem *p, struct message *why)
{
    enum { D = 16 };
    struct single x;
    if (!single_new(&x, 1, D, why))
        return single_refused(&x);
    for (int d = 0; d < D; d++) {
        tensor_set(&x.q, 0, 0, 0, d, 133120);
        tensor_set(&x.k, 0, 0, 0, d, 133120);
        tensor_set(&x.v, 0, 0, 0, d, 133120);
    }
    return single_problem(p, &x, 0.25, why);
}

/* One key, q 240, k 192: score 46080, which times log2 e is no float. */
static bool build_m9(struct problem *p, struct message *why)
{
    struct single x;
    if (!single_new(&x, 1, 1, why))
        return single_refused(&x);
    tensor_set(&x.q, 0, 0, 0, 0, 240);
    tensor_set(&x.k, 0, 0, 0, 0, 192);
    tensor_set(&x.v, 0, 0, 0, 0, 1);
    return single_problem(p, &x, 1, why);
}

/* Scores 0 and three times just above ln 0.502: those weights round down to 0.5 in bf16. */
static bool build_p1(struct problem *p, struct message *why)
{
    struct single x;
    if (!single_new(&x, 4, 2, why))
        return single_refused(&x);
    for (int d = 0; d < 2; d++) {
        tensor_set(&x.q, 0, 0, 0, d, 1);
        for (int c = 0; c < 4; c++)
            tensor_set(&x.v, 0, 0, c, d, 1);
    }
    for (int c = 1; c < 4; c++) {
        tensor_set(&x.k, 0, 0, c, 0, -0.6875);
        tensor_set(&x.k, 0, 0, c, 1, -0.00201416015625);
    }
    return single_problem(p, &x, 1, why);
}

/* Row r sees keys r .. r + 3, two of which share its maximum; the two others weigh e^(-9 q) and less.
   Columns are [2, 4) in size, in multiples of 1/64, so that the sum of two has one bit more than bf16
   half of the time: column 0 is negative, column 1 of both signs.  Row 0 comes to the sum that the
   paper shows: -4.70399, which bf16 makes -4.71875. */
static bool build_training_bias(struct problem *p, struct message *why)
{
    enum { ROWS = 253, SEEN = 4, KEYS = ROWS + SEEN - 1, D = 2 };
    static const double first[SEEN] = {-2.40625, -2.4375, -2.296875, -2.5};
    const int64_t rows[TENSOR_MAX_RANK] = {1, 1, ROWS, D};
    struct problem_options options = problem_defaults();
    struct single x;
    if (!single_new(&x, KEYS, D, why))
        return single_refused(&x);
    tensor_free(&x.q);
    if (!tensor_new(&x.q, FORMAT_BF16, TENSOR_MAX_RANK, rows, why))
        return single_refused(&x);
    for (int r = 0; r < ROWS; r++)
        tensor_set(&x.q, 0, 0, r, 0, r == 0 ? 0.9609375 : 1 + r * 29 % 128 / 128.0);
    for (int c = 0; c < KEYS; c++) {
        int size = ((c * 40503 + 7) >> 5) % 128, other = (((c + 500) * 40503 + 7) >> 5) % 128;
        tensor_set(&x.k, 0, 0, c, 0, c % 2 == 0 ? 1 : -8);
        tensor_set(&x.v, 0, 0, c, 0, c < SEEN ? first[c] : -(2 + size / 64.0));
        tensor_set(&x.v, 0, 0, c, 1, (c * 7 / 4 % 3 != 0 ? 1 : -1) * (2 + other / 64.0));
    }
    options.scale_given = true;
    options.scale = 1;
    options.mask.left = SEEN - 1;
    options.mask.right = 0;
    bool ok = problem_new(p, &x.q, &x.k, &x.v, &options, why);
    return ok || single_refused(&x);
}

/* score(t) = 1 + (t/64 mod 32 - t mod 3) / 8 and value(t) = (22 + 119 t mod 127) / 64, both exact
   in bf16; query (16, 0, ...), keys (score, 0, ...), scale 1/16, so that every product is exact.
   One head of a launch of 16 query heads over 4 key heads. */
static bool build_h200_b200(struct problem *p, struct message *why)
{
    enum { KEYS = 27525, D = 256 };
    struct single x;
    if (!single_new(&x, KEYS, D, why))
        return single_refused(&x);
    tensor_set(&x.q, 0, 0, 0, 0, 16);
    for (int t = 0; t < KEYS; t++) {
        tensor_set(&x.k, 0, 0, t, 0, 1 + (t / 64 % 32 - t % 3) / 8.0);
        tensor_set(&x.v, 0, 0, t, 0, (22 + 119 * t % 127) / 64.0);
        uint16_t *v = (uint16_t *)x.v.data + (size_t)t * D; /* one number in every column */
        for (int d = 1; d < D; d++)
            v[d] = v[0];
    }
    if (!single_problem(p, &x, 1.0 / 16, why))
        return false;
    p->launch_q = 16;
    p->launch_kv = 4;
    return true;
}

static const struct example_info examples[EXAMPLE_COUNT] = {
#define EXAMPLE(id, name, dtype, scores, values, build, algorithm, tile, fault, meaning, source)   \
    {name, FORMAT_##dtype, NULL, scores, values, build, algorithm, tile, fault, meaning, source},
#define CAPTURE(id, name, dtype, file, meaning, source)                                            \
    {name, FORMAT_##dtype, file, NULL, NULL, NULL, NULL, NULL, NULL, meaning, source},
#include "simulator/examples.def"
#undef EXAMPLE
#undef CAPTURE
};

const struct example_info *example_info(enum example e)
{
    return &examples[e];
}

bool example_from_name(const char *name, enum example *e)
{
    for (int i = 0; i < EXAMPLE_COUNT; i++) {
        if (strcmp(examples[i].name, name) == 0) {
            *e = (enum example)i;
            return true;
        }
    }
    return false;
}

/* A copy of a (1, 1, N, 1) tensor, held in another format. */
static bool held_in(enum format f, struct tensor *t, struct message *why)
{
    struct tensor copy;
    if (!tensor_new(&copy, f, TENSOR_MAX_RANK, t->shape, why))
        return false;
    for (int64_t i = 0; i < t->shape[2]; i++)
        tensor_set(&copy, 0, 0, i, 0, tensor_get(t, 0, 0, i, 0));
    tensor_free(t);
    *t = copy;
    return true;
}

bool example_problem(enum example e, struct problem *p, struct message *why)
{
    const struct example_info *x = &examples[e];
    assert(x->file == NULL);
    if (x->build != NULL)
        return x->build(p, why);
    if (!problem_from_scores(p, x->scores, x->values, why))
        return false;
    if (held_in(x->dtype, &p->q, why) && held_in(x->dtype, &p->k, why) &&
        held_in(x->dtype, &p->v, why))
        return true;
    problem_free(p);
    return false;
}

/* The article rounds to three or four digits; what it stores and what it divides are the same to
   it, so ROUND_P repeats EXP and STORE repeats NORMALIZE. */
static const struct example_figure fa2_4_figures[] = {
    {0, STEP_ROW_MAX, TENSOR_M, 0, 0, "2"},
    {0, STEP_EXP, TENSOR_P, 0, 0, "0.368"},
    {0, STEP_EXP, TENSOR_P, 0, 1, "1"},
    {0, STEP_ROW_SUM, TENSOR_L_SUM, 0, 0, "1.368"},
    {0, STEP_ROUND_P, TENSOR_P, 0, 0, "0.368"},
    {0, STEP_ROUND_P, TENSOR_P, 0, 1, "1"},
    {0, STEP_PV, TENSOR_O_ACC, 0, 0, "23.68"},
    {1, STEP_ROW_MAX, TENSOR_M, 0, 0, "3"},
    {1, STEP_RESCALE, TENSOR_DECAY, 0, 0, "0.368"},
    {1, STEP_RESCALE, TENSOR_O_ACC, 0, 0, "8.71"},
    {1, STEP_EXP, TENSOR_P, 0, 0, "1"},
    {1, STEP_EXP, TENSOR_P, 0, 1, "0.050"},
    {1, STEP_ROW_SUM, TENSOR_L_SUM, 0, 0, "1.553"},
    {1, STEP_ROUND_P, TENSOR_P, 0, 0, "1"},
    {1, STEP_ROUND_P, TENSOR_P, 0, 1, "0.050"},
    {1, STEP_PV, TENSOR_O_ACC, 0, 0, "38.71"},
    {-1, STEP_NORMALIZE, TENSOR_O, 0, 0, "24.93"},
    {-1, STEP_LSE, TENSOR_LSE, 0, 0, "3.440"},
    {-1, STEP_STORE, TENSOR_O, 0, 0, "24.93"},
};

static const struct example_figures fa2_4 = {
    ALGORITHM_FA2, "an explanation of FlashAttention-2 (arXiv 2307.08691)",
    sizeof fa2_4_figures / sizeof fa2_4_figures[0], fa2_4_figures};

/* The groups of 512, 448 and 320 tokens are those of a launch of four KV heads. */
int64_t example_launch_heads(enum example e)
{
    return e == EXAMPLE_H200_B200 ? 4 : 0;
}

const struct example_figures *example_figures(enum example e)
{
    return e == EXAMPLE_FA2_4 ? &fa2_4 : NULL;
}

const char *example_figure(const struct example_figures *f, int tile, enum step step,
                           enum tensor_name tensor, int row, int col)
{
    for (int i = 0; i < f->count; i++) {
        const struct example_figure *x = &f->figure[i];
        if ((x->tile == tile || x->tile == -1) && x->step == step && x->tensor == tensor &&
            x->row == row && x->col == col)
            return x->text;
    }
    return NULL;
}
