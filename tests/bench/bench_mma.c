/* bench_mma.c: a tensor core's products: the plain form (mma.c), the fast one inside a matrix
   product (arith_mma.h), and the same product by chains of fmaf; 64 x 64 outputs, depth 128, on one
   thread.  The plain form's goal is 200 million products a second, the fast one's 700 million and
   three times the plain one's. */
#include <math.h>
#include <string.h>

#include "simulator/cpu.h"
#include "simulator/mma.h"
#include "simulator/simulate.h"
#include "tests/bench/bench.h"

enum { ROWS = 64, COLUMNS = 64, DEPTH = 128 };
static const double products = (double)ROWS * COLUMNS * DEPTH;

struct unit {
    struct run run;
    struct policy policy;
    struct mma_step step;
    bool chain; /* fmaf */
    struct tile *a, *b, *d;
};

static float factor(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double x = ldexp((double)(*state >> 40), -23) - 1;
    return (float)format_round(FORMAT_BF16, x, false);
}

static void unit_new(struct unit *u, const char *order)
{
    struct message why;
    uint64_t state = 1;
    u->policy = policy_table(POLICY_GPU_BF16);
    u->chain = order == NULL;
    if (!u->chain && !policy_order(&u->policy, order, &why))
        abort();
    if (!run_new(&u->run, arith_float(), &u->policy, 53, &why))
        abort();
    if (!u->chain)
        u->step = mma_step_of(u->policy.site[SITE_SCORE_ACC].order.mma,
                              (struct mma_factor){FORMAT_BF16, 0},
                              (struct mma_factor){FORMAT_BF16, 0}, FORMAT_FP32);
    u->a = tile_new(&u->run, TENSOR_Q, ROWS, DEPTH);
    u->b = tile_new(&u->run, TENSOR_K, COLUMNS, DEPTH);
    u->d = tile_new(&u->run, TENSOR_S, ROWS, COLUMNS);
    u->a->wrote = u->b->wrote = SITE_INPUT;
    for (int i = 0; i < ROWS * DEPTH; i++)
        ((float *)u->a->data)[i] = factor(&state);
    for (int i = 0; i < COLUMNS * DEPTH; i++)
        ((float *)u->b->data)[i] = factor(&state);
}

static void fast(void *with)
{
    struct unit *u = with;
    mma_abt(&u->run, u->d, u->a, u->b, SITE_SCORE_ACC);
}

static void plain(void *with)
{
    struct unit *u = with;
    float *d = u->d->data;
    const float *a = u->a->data, *b = u->b->data;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            float acc = 0;
            for (int k = 0; k < DEPTH; k += u->step.L)
                acc = mma_dot_add(&u->step, a + i * DEPTH + k, b + j * DEPTH + k, u->step.L, acc);
            d[i * COLUMNS + j] = acc;
        }
}

/* Nanoseconds a product against those that a rate in millions a second leaves. */
static void rate_row(const char *what, const struct peer *p, const char *goal, double rate)
{
    bench_row(what, p->median / products * 1e9, "ns", goal, 1e3 / rate, 1);
}

int main(void)
{
    static const char *const orders[] = {"SCORE_ACC=mma@sm80", "SCORE_ACC=mma@sm90"};
    static const char *const names[][2] = {{"mma@sm80 plain", "mma@sm80 fast"},
                                           {"mma@sm90 plain", "mma@sm90 fast"}};
    int differ = 0;
    for (int i = 0; i < 2; i++) {
        struct unit u = {.chain = false}, chain = {.chain = false};
        unit_new(&u, orders[i]);
        unit_new(&chain, NULL);
        struct peer peer[] = {{names[i][0], plain, &u, 8, 0, NULL},
                              {names[i][1], fast, &u, 0, 0, NULL},
                              {"fmaf chains", fast, &chain, 0, 0, NULL}};
        bench_rounds(peer, 3, 41);
        rate_row(names[i][0], &peer[0], "200 M products/s", 200);
        rate_row(names[i][1], &peer[1], "700 M products/s", 700);
        bench_times_row(names[i][1], &peer[1], &peer[0], 1.0 / 3);
        bench_times_row(names[i][1], &peer[1], &peer[2], 0);
        float got[ROWS * COLUMNS];
        fast(&u);
        memcpy(got, u.d->data, sizeof got);
        plain(&u);
        differ += memcmp(got, u.d->data, sizeof got) != 0;
        run_free(&u.run);
        run_free(&chain.run);
    }
    bench_note("level %s; %d of 2 products differ between the forms", cpu_level_name(cpu_level()),
               differ);
    return differ;
}
