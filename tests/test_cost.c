/* test_cost.c: a cell's operations against the calls of the kernel models' listings; bytes and
   times against figures worked out by hand from the device table. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/cost.h"
#include "simulator/simulate.h"

/* --- the listings' calls, counted and not performed */

struct counted {
    struct run run; /* first: `perform` finds the rest behind it */
    double matmul, other, special, masking;
};

static double elements(const struct tile *t)
{
    return (double)t->rows * t->cols;
}

static void count_call(struct run *r, const struct call *c)
{
    struct counted *n = (struct counted *)r;
    if (elements(c->dst) == 1) /* a constant, made once */
        return;
    switch (c->verb) {
    case VERB_MMA_ABT:
    case VERB_MMA_AB:
        n->matmul += 2 * elements(c->dst) * c->a->cols;
        break;
    case VERB_ADD:
    case VERB_SUB:
    case VERB_MUL:
    case VERB_FMA:
    case VERB_ROUND_AT:
        n->other += elements(c->dst);
        break;
    case VERB_ROW_MAX:
    case VERB_ROW_SUM:
        n->other += elements(c->a);
        break;
    case VERB_ROW_SUM_RESCALED:
        n->other += elements(c->a) + c->a->rows;
        break;
    case VERB_EXP2:
    case VERB_LOG2:
    case VERB_RCP:
        n->special += elements(c->dst);
        break;
    case VERB_MASK_FILL:
        n->masking += elements(c->dst);
        break;
    default: /* moves, constants, selections, the quad's butterfly */
        break;
    }
}

/* One query tile, `cells` key tiles. */
static struct counted listing(enum kernel k, struct tiling t, int D, int cells)
{
    struct counted n;
    struct message why;
    struct kernel_choice choice;
    struct policy policy;
    struct problem p = {.B = 1, .Hq = 1, .Hkv = 1, .Nq = t.Br, .Nk = (int64_t)cells * t.Bc, .D = D};
    p.scale.value = 1;
    p.scale.root = D;
    p.mask.left = p.mask.right = -1;
    struct head h = problem_head(&p, 0);
    memset(&n, 0, sizeof n);
    assert_true(kernel_choose(&choice, kernel_info(k)->name, &why));
    assert_true(kernel_policy(&choice, &p, FORMAT_BF16, &policy, &why));
    assert_true(run_new(&n.run, arith_float(), &policy, 53, &why));
    n.run.perform = count_call;
    struct attention x = {.head = &h, .choices = {.Br = t.Br, .Bc = t.Bc, .kernel = &choice}};
    x.O = tile_new(&n.run, TENSOR_O, t.Br, D);
    x.L = tile_new(&n.run, TENSOR_LSE, t.Br, 1);
    kernel_info(k)->body(&n.run, &x);
    run_free(&n.run);
    return n;
}

static struct grid one_head(enum plan_kernel k, struct tiling t, int64_t Nq, int64_t Nk, int64_t D)
{
    struct attention_shape s = {1, 1, 1, Nq, Nk, D, false};
    return grid_of(k, &s, t, 1, 1);
}

static void listings(void **unused)
{
    (void)unused;
    static const struct {
        enum kernel listing;
        enum plan_kernel kernel;
        struct tiling t;
        int D;
    } rows[] = {
        {KERNEL_FA2, PLAN_KERNEL_FA2, {128, 64, 4}, 128},
        {KERNEL_FA2, PLAN_KERNEL_FA2, {64, 128, 4}, 64},
        {KERNEL_FA2, PLAN_KERNEL_FA2, {16, 32, 1}, 96},
        {KERNEL_FA1, PLAN_KERNEL_FA1, {16, 256, 4}, 64},
        {KERNEL_FA1, PLAN_KERNEL_FA1, {16, 128, 4}, 128},
        {KERNEL_FA2, PLAN_KERNEL_FA2, {128, 64, 8}, 256},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct counted two = listing(rows[r].listing, rows[r].t, rows[r].D, 2);
        struct counted three = listing(rows[r].listing, rows[r].t, rows[r].D, 3);
        struct grid g =
            one_head(rows[r].kernel, rows[r].t, rows[r].t.Br, 3 * rows[r].t.Bc, rows[r].D);
        struct work cell = work_cell(&g, CELL_PLAIN), masked = work_cell(&g, CELL_MASKED);
        struct work block = work_block(&g);
        assert_true(cell.matmul == three.matmul - two.matmul);
        assert_true(cell.other == three.other - two.other);
        assert_true(cell.special == three.special - two.special);
        assert_true(masked.other - cell.other == three.masking - two.masking);
        assert_true(masked.matmul == cell.matmul && masked.special == cell.special);
        assert_true(3 * cell.matmul == three.matmul);
        if (3 * cell.other + block.other != three.other ||
            3 * cell.special + block.special != three.special)
            fail_msg("row %d: other %g + %g, listing %g; special %g + %g, listing %g", (int)r,
                     3 * cell.other, block.other, three.other, 3 * cell.special, block.special,
                     three.special);
    }
}

/* --- figures by hand */

static struct device_record device(const char *name)
{
    struct device_record d;
    struct message why;
    assert_true(device_lookup(name, &d, &why));
    return d;
}

static struct cost cost_of(const struct plan_request *q, const char *name)
{
    struct device_record d = device(name);
    struct cost c;
    struct message why;
    if (!plan_cost(q, &d, &c, &why))
        fail_msg("%s", why.text);
    return c;
}

static struct plan_request request(enum plan_kernel k, struct attention_shape s)
{
    struct plan_request q = plan_request_default();
    q.kernel = k;
    q.shape = s;
    return q;
}

static bool near(double x, double want)
{
    return fabs(x - want) <= 1e-9 * fabs(want);
}

static void operations(void **unused)
{
    (void)unused;
    struct attention_shape s = {1, 16, 16, 2048, 2048, 128, false};
    struct grid g = grid_of(PLAN_KERNEL_FA2, &s, (struct tiling){128, 64, 4}, 0, 0);
    assert_true(useful_flops(&g) == 34359738368.0);
    struct work w = work_cell(&g, CELL_PLAIN);
    assert_true(w.matmul == 4 * 128 * 64 * 128);
    assert_true(w.shared == 2 * (5 * 2 * 64 * 128 + 128 * 128));
    g = grid_of(PLAN_KERNEL_BACKWARD, &s, (struct tiling){64, 128, 8}, 0, 0);
    assert_true(useful_flops(&g) == 2.5 * 34359738368.0);
    assert_true(work_cell(&g, CELL_PLAIN).matmul == 10 * 128 * 64 * 128);
    s.causal = true; /* N (N + 1) / 2 pairs */
    g = grid_of(PLAN_KERNEL_FA2, &s, (struct tiling){128, 64, 4}, 0, 0);
    assert_true(useful_flops(&g) == 4.0 * 128 * 16 * (2048.0 * 2049 / 2));
    s.len_q = 3;
    s.len_k = 2; /* rows that see 0, 1, 2 keys */
    g = grid_of(PLAN_KERNEL_FA2, &s, (struct tiling){128, 64, 4}, 0, 0);
    assert_true(useful_flops(&g) == 4.0 * 128 * 16 * 3);
}

static void bytes(void **unused)
{
    (void)unused;
    const double MB = 1 << 20;
    struct attention_shape s = {2, 16, 4, 4096, 4096, 128, false};
    struct grid g = grid_of(PLAN_KERNEL_FA2, &s, (struct tiling){128, 64, 4}, 0, 0);
    struct traffic t = grid_traffic(&g); /* Q, O: 32 MB each; K, V: 8 MB; LSE: 0.5 MB */
    assert_true(t.once == (32 + 32 + 8 + 8 + 0.5) * MB);
    /* each row block of each of 32 heads asks for 2 MB of K and V: all 32 but one of them again */
    assert_true(t.again == 32 * 31 * 2 * MB);
    g = grid_of(PLAN_KERNEL_BACKWARD, &s, (struct tiling){64, 128, 8}, 0, 0);
    t = grid_traffic(&g);
    /* Q O dO dQ, K V, dK dV of 32 query heads, LSE and D (written, read) */
    assert_true(t.once == (4 * 32 + 2 * 8 + 2 * 32 + 3 * 0.5) * MB);
    /* Q and dO 31 times more; dQ in fp32: read and written by 32 column blocks, zeroed and read
       once more; dK, dV of four heads read and one written */
    assert_true(t.again == (31 * 2 * 32 + 32 * 2 * 64 + 2 * 64 + 2 * 32 + 2 * 8) * MB);
    g = grid_of(PLAN_KERNEL_DECODE, &(struct attention_shape){1, 8, 2, 1, 4096, 128, false},
                (struct tiling){64, 128, 4}, 4, 8);
    t = grid_traffic(&g);
    assert_true(t.once == 2.0 * 128 * (2 * 8 + 2 * 2 * 4096) + 4 * 8);
    assert_true(t.again == 2.0 * 4 * 4 * 4 * 2 * 129);
    g = grid_of(PLAN_KERNEL_FA1, &(struct attention_shape){1, 1, 1, 64, 512, 64, false},
                (struct tiling){16, 256, 4}, 0, 0);
    t = grid_traffic(&g); /* two key tiles: Q once more, O and LSE in fp32 twice each way */
    assert_true(t.again == 2.0 * 64 * 64 + 2 * 2 * 4.0 * 64 * 65);
}

/* A100, a block of 128 rows alone on its SM: 128 cells of 64 keys. */
static void times(void **unused)
{
    (void)unused;
    struct plan_request q =
        request(PLAN_KERNEL_FA2, (struct attention_shape){2, 16, 16, 8192, 8192, 128, false});
    q.assume[ASSUMPTION_PER_SM] = 1;
    struct cost c = cost_of(&q, "A100");
    double sm = 312e12 / 108, ops = 19.5e12 / 108 / 2, clock = 1410e6;
    double matmul = 4194304 / sm, other = (4 * 8192 + 16384 + 4 * 128) / ops;
    double special = (8192 + 128) / (16 * clock), shared = 196608 / (128 * clock);
    assert_true(c.timed && c.shipped && c.per_sm == 1);
    assert_true(near(least_seconds(&c.plain, &c.rates), matmul));
    assert_true(near(most_seconds(&c.plain, &c.rates), matmul + other + special + shared));
    double block = fmax((16384 - 128) / ops, 2 * 16384 / (128 * clock));
    assert_true(near(c.least.span, 19 * (128 * matmul + block)));
    assert_true(near(c.seconds_least, c.least.span));
    assert_true(near(c.share_most, c.useful / c.seconds_least / 312e12));
    assert_true(c.share_most < 1 && c.share_least < c.share_most);
    assert_true(near(c.seconds_most, c.most.span + c.traffic.once / 2039e9));
    q.assume[ASSUMPTION_LAUNCH] = 5;
    q.assume[ASSUMPTION_REREAD] = 1;
    struct cost d = cost_of(&q, "A100");
    assert_true(near(d.seconds_most - c.seconds_most, 5e-6 + c.traffic.again / 2039e9));
    q.assume[ASSUMPTION_EXPONENTIALS] = 1; /* now they bound the cell */
    d = cost_of(&q, "A100");
    assert_true(near(least_seconds(&d.plain, &d.rates), (8192 + 128) / clock));
}

static void rates(void **unused)
{
    (void)unused;
    struct plan_request q =
        request(PLAN_KERNEL_DECODE, (struct attention_shape){1, 32, 4, 1, 27525, 256, false});
    struct cost c = cost_of(&q, "H200");
    assert_true(c.rates.clock_derived && near(c.rates.clock, 67e12 / (2.0 * 132 * 128)));
    assert_int_equal(c.grid.splits, 54);
    assert_int_equal(c.grid.blocks, 4 * 54);
    assert_int_equal(c.grid.split_tiles, 8);
    assert_int_equal(c.launches, 2);
    assert_true(near(c.seconds_least, c.traffic.once / 4800e9)); /* decode: memory bounds it */
    q = request(PLAN_KERNEL_FA1, (struct attention_shape){1, 32, 32, 512, 512, 64, false});
    c = cost_of(&q, "T4"); /* no bf16 figure: no time, but waves */
    assert_true(!c.timed && c.per_sm > 0 && c.seconds_least == 0 && c.least.steps > 0);
    q = request(PLAN_KERNEL_FA2, (struct attention_shape){1, 32, 32, 512, 512, 256, false});
    q.tile = (struct tiling){128, 64, 8};
    c = cost_of(&q, "RTX-4090");
    assert_true(c.per_sm == 0 && c.occupancy.verdict == TILE_NO_LAUNCH && !c.shipped);
    q.tile = (struct tiling){64, 64, 0};
    c = cost_of(&q, "RTX-4090");
    assert_true(c.shipped && c.per_sm == 1);
}

static void refusals(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"exp-per-clock", "--assume exp-per-clock: NAME=VALUE is right, such as exp-per-clock=32"},
        {"exp-per-clok=3",
         "--assume exp-per-clok: nothing is so called; did you mean exp-per-clock?"},
        {"zzzzzzzzzzzzzzzz=3",
         "--assume zzzzzzzzzzzzzzzz: nothing is so called; flashulp list assumptions"},
        {"exp-per-clock=0", "--assume exp-per-clock: 0 is no number above 0 and up to 1000000000"},
        {"exp-per-clock=", "--assume exp-per-clock:  is no number above 0 and up to 1000000000"},
        {"reread=1.5", "--assume reread: 1.5 is no number from 0 to 1"},
        {"reread=nan", "--assume reread: nan is no number from 0 to 1"},
        {"per-sm=2.5", "--assume per-sm: 2.5 is no whole number from 0 to 64"},
        {"launch-us=-1", "--assume launch-us: -1 is no number from 0 to 1000000000"},
    };
    struct plan_request q = plan_request_default();
    struct message why;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        assert_false(assume(q.assume, rows[r].text, &why));
        assert_string_equal(why.text, rows[r].why);
    }
    assert_true(assume(q.assume, "launch-us=2.5", &why) && q.assume[ASSUMPTION_LAUNCH] == 2.5);
    struct device_record d = device("A100");
    struct cost c;
    q = request(PLAN_KERNEL_FA2,
                (struct attention_shape){1 << 20, 1024, 1, 1 << 20, 64, 64, false});
    assert_false(plan_cost(&q, &d, &c, &why));
    assert_string_equal(why.text,
                        "1073741824 heads of 8192 thread blocks are more than the 16777216 "
                        "that are planned");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listings), cmocka_unit_test(operations), cmocka_unit_test(bytes),
        cmocka_unit_test(times),    cmocka_unit_test(rates),      cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
