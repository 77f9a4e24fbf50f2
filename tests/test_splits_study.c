/* test_splits_study.c: plans compared token by token; the workload's steps; the stretches over which
   a row keeps its groups, against launches planned one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/splits_study.h"

static struct launch launch_of(int64_t batch, int64_t length, int64_t dim, int sms)
{
    return (struct launch){.batch = batch,
                           .heads_q = 16,
                           .heads_kv = 4,
                           .len_q = 1,
                           .dim = dim,
                           .longest = length,
                           .shortest = -1,
                           .sms = sms};
}

static struct split_plan plan_of(enum split_rule rule, const struct launch *l)
{
    struct split_plan p;
    struct message why;
    if (!split_plan(rule, NULL, l, &p, &why))
        fail_msg("%s: %s", split_rule_info(rule)->name, why.text);
    return p;
}

/* The definition: two tokens are in one group here iff they are there. */
static bool alike_by_tokens(const struct split_plan *a, int64_t length_a,
                            const struct split_plan *b, int64_t length_b)
{
    int64_t tokens = length_a < length_b ? length_a : length_b;
    int count = split_count(a, length_a);
    int *name = malloc(((size_t)count + 1) * sizeof *name);
    bool alike = true;
    int64_t seen = -1;
    assert_non_null(name);
    for (int i = 0; i < count; i++)
        name[i] = -1;
    for (int64_t t = 0; alike && t < tokens; t++) {
        int x = split_owner(a, length_a, t), y = split_owner(b, length_b, t);
        bool fresh = name[x] < 0;
        alike = fresh ? y > seen : name[x] == y;
        if (fresh)
            name[x] = y;
        seen = y > seen ? y : seen;
    }
    free(name);
    return alike;
}

static void test_alike_is_per_token(void **state)
{
    (void)state;
    static const int64_t lengths[] = {0, 1, 64, 255, 256, 257, 512, 700, 1025, 4000};
    static const int sms[] = {8, 40, 132, 148};
    struct split_plan plans[4 * SPLIT_RULE_COUNT];
    int count = 0;
    for (int s = 0; s < 4; s++)
        for (int rule = 0; rule < SPLIT_RULE_COUNT; rule++) {
            struct launch l = launch_of(1, 4000, 128, sms[s]);
            struct message why;
            l.num_splits = rule == SPLIT_RULE_DECODE ? 3 * s + 1 : 0;
            if (rule == SPLIT_RULE_DECODE && s % 2 == 1)
                assert_true(split_option_set(&l, SPLIT_RULE_DECODE, "grouping=round-robin", &why));
            plans[count++] = plan_of((enum split_rule)rule, &l);
        }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
                if (split_alike(&plans[a], &plans[b], lengths[i]) !=
                    alike_by_tokens(&plans[a], lengths[i], &plans[b], lengths[i]))
                    fail_msg("%s and %s at %d tokens", split_rule_info(plans[a].rule)->name,
                             split_rule_info(plans[b].rule)->name, (int)lengths[i]);
}

static void test_shared(void **state)
{
    (void)state;
    struct launch l = launch_of(1, 27525, 256, 132);
    struct split_plan plan[3];
    static const int sms[] = {132, 148, 188};
    for (int d = 0; d < 3; d++) {
        l.sms = sms[d];
        plan[d] = plan_of(SPLIT_RULE_FA2_SPLIT, &l);
    }
    const struct split_plan *all[] = {&plan[0], &plan[1], &plan[2]};
    assert_int_equal(split_shared(all, 2, 27525), 3584);
    assert_int_equal(split_shared(all, 3, 27525), 17920);
    assert_int_equal(split_shared(all, 3, 17920), 0);
    assert_int_equal(split_shared(all, 1, 27525), 512);
    struct split_plan xqa = plan_of(SPLIT_RULE_XQA, &l);
    all[1] = &xqa;
    assert_int_equal(split_shared(all, 2, 27525), 0);
}

/* Independently counted: 22 messages, every length; the list of SP06-M010 on 148 SMs. */
static void test_workload(void **state)
{
    (void)state;
    static const int sms[] = {132, 148, 188};
    static const int64_t want[4][2] = {{27525, 7}, {27649, 6}, {27777, 7}, {28417, 8}};
    struct launch l = launch_of(1, 0, 256, 0);
    struct workload_tally t;
    struct message why;
    int listed = 0;
    assert_true(split_workload(WORKLOAD_SP22, SPLIT_RULE_FA2_SPLIT, NULL, &l, sms, 3, &t, &why));
    assert_int_equal(t.messages, 22);
    assert_int_equal(t.steps, 9060);
    assert_int_equal(t.pair[0][1].steps, 1093);
    assert_int_equal(t.pair[0][1].messages, 6);
    assert_int_equal(t.pair[0][1].whole, 3);
    assert_int_equal(t.pair[1][2].steps, 527);
    assert_int_equal(t.pair[1][2].messages, 4);
    assert_int_equal(t.pair[1][2].whole, 3);
    assert_int_equal(t.all.steps, 108);
    assert_int_equal(t.all.whole, 1);
    assert_non_null(t.all.only);
    assert_string_equal(t.all.only->series, "SP01");
    assert_string_equal(t.all.only->message, "M001");
    assert_int_equal(t.changes[0], 12);
    assert_int_equal(t.changes[1], 12);
    assert_int_equal(t.changes[2], 0);
    assert_int_equal(t.undecided, 0);
    for (int i = 0; i < t.change_count; i++) {
        const struct grouping_change *c = &t.change[i];
        if (strcmp(c->range->series, "SP06") != 0 || strcmp(c->range->message, "M010") != 0 ||
            c->device != 1)
            continue;
        assert_true(listed < 4);
        assert_int_equal(c->length, want[listed][0]);
        assert_int_equal(c->blocks, want[listed++][1]);
    }
    assert_int_equal(listed, 4);
    workload_tally_free(&t);
}

/* A step counts as undecided where one device's plan is: with as many splits as programs are asked for,
   that is where SMs x log2 comes within a few ulps of a whole number. */
static void test_workload_undecided(void **state)
{
    (void)state;
    static const int sms[] = {132, 188};
    struct launch l = launch_of(1, 0, 128, 0);
    struct workload_tally t;
    struct message why;
    int64_t want = 0;
    l.heads_q = l.heads_kv = 1;
    assert_true(split_option_set(&l, SPLIT_RULE_SGLANG_DECODE, "most=4096", &why));
    assert_true(
        split_workload(WORKLOAD_SP22, SPLIT_RULE_SGLANG_DECODE, NULL, &l, sms, 2, &t, &why));
    for (int i = 0; i < decode_range_count; i++)
        for (int64_t step = 0; step < decode_ranges[i].tokens; step++) {
            bool undecided = false;
            for (int d = 0; d < 2; d++) {
                l.longest = decode_ranges[i].depth + step;
                l.sms = sms[d];
                undecided |= plan_of(SPLIT_RULE_SGLANG_DECODE, &l).undecided;
            }
            want += undecided;
        }
    assert_true(want > 0 && want < 100);
    assert_int_equal(t.undecided, want);
    workload_tally_free(&t);
}

/* At the first length of each message, as the post lists them: alike on all three, on two. */
static void test_workload_depths(void **state)
{
    (void)state;
    static const int sms[] = {132, 148, 188};
    int all = 0, first_two = 0, last_two = 0;
    for (int i = 0; i < decode_range_count; i++) {
        struct split_plan p[3];
        int64_t depth = decode_ranges[i].depth;
        for (int d = 0; d < 3; d++) {
            struct launch l = launch_of(1, depth, 256, sms[d]);
            p[d] = plan_of(SPLIT_RULE_FA2_SPLIT, &l);
        }
        bool a = split_alike(&p[0], &p[1], depth), b = split_alike(&p[1], &p[2], depth);
        all += a && b;
        first_two += a && !b;
        last_two += b && !a;
    }
    assert_int_equal(all, 1);
    assert_int_equal(first_two, 2);
    assert_int_equal(last_two, 3);
}

/* The launch at one place of an axis, written out again. */
static struct launch moved(struct launch l, enum split_axis axis, int64_t x)
{
    int64_t row = l.longest;
    switch (axis) {
    case AXIS_BATCH:
        l.batch = x;
        break;
    case AXIS_LONGEST:
        l.longest = x;
        l.shortest = row;
        break;
    case AXIS_SHORTEST:
        l.shortest = x;
        break;
    case AXIS_CAPACITY:
        l.capacity = x;
        break;
    default:
        l.longest = x;
        break;
    }
    return l;
}

static void check_axis(enum split_rule rule, const struct launch *l, enum split_axis axis,
                       int64_t first, int64_t last)
{
    struct split_plan asked = plan_of(rule, l);
    struct split_stretch *s;
    struct message why;
    int count, at = 0;
    assert_true(split_stretches(rule, NULL, l, axis, first, last, &s, &count, &why));
    assert_int_equal(s[0].from, first);
    assert_int_equal(s[count - 1].to, last);
    for (int64_t x = first; x <= last; x++) {
        struct launch other = moved(*l, axis, x);
        struct split_plan p = plan_of(rule, &other);
        int64_t length = axis == AXIS_LENGTH ? x : l->longest;
        if (x > s[at].to)
            assert_int_equal(s[++at].from, x);
        bool kept = alike_by_tokens(&asked, l->longest, &p, length) &&
                    (split_count(&asked, l->longest) == 1) == (split_count(&p, length) == 1) &&
                    asked.lanes == p.lanes;
        if (kept != s[at].kept || split_count(&p, length) != s[at].groups)
            fail_msg("%s, %s %d: %d groups, kept %d; stretch %d to %d: %d, %d",
                     split_rule_info(rule)->name, split_axis_name(axis), (int)x,
                     split_count(&p, length), kept, (int)s[at].from, (int)s[at].to, s[at].groups,
                     s[at].kept);
    }
    free(s);
}

static void test_stretches(void **state)
{
    (void)state;
    for (int rule = 0; rule < SPLIT_RULE_COUNT; rule++) {
        struct launch l = launch_of(3, 1500, 128, 132);
        l.num_splits = rule == SPLIT_RULE_DECODE ? 5 : 0;
        check_axis((enum split_rule)rule, &l, AXIS_BATCH, 1, 256);
        check_axis((enum split_rule)rule, &l, AXIS_LONGEST, 1500, 2700);
        check_axis((enum split_rule)rule, &l, AXIS_SHORTEST, 1, 1500);
        check_axis((enum split_rule)rule, &l, AXIS_CAPACITY, 1500, 2700);
        check_axis((enum split_rule)rule, &l, AXIS_LENGTH, 1, 2700);
    }
}

/* What a row's groups depend on, kernel by kernel: the number of stretches along each axis. */
static void test_neighbours(void **state)
{
    (void)state;
    static const struct {
        enum split_rule rule;
        const char *option;
        bool batch, longest, capacity; /* does the row keep its groups all along? */
    } rows[] = {
        {SPLIT_RULE_FA2_SPLIT, NULL, false, false, false},
        {SPLIT_RULE_TRITON_DECODE, NULL, false, true, true},
        {SPLIT_RULE_TRITON_DECODE, "path=3d", true, true, true},
        {SPLIT_RULE_SGLANG_DECODE, NULL, false, false, true},
        {SPLIT_RULE_SGLANG_DECODE, "chunk=256", true, true, true},
        {SPLIT_RULE_XQA, NULL, false, true, true},
        {SPLIT_RULE_DECODE, NULL, true, true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct launch l = launch_of(2, 27525, 256, 132);
        struct message why;
        l.num_splits = rows[i].rule == SPLIT_RULE_DECODE ? 5 : 0;
        if (rows[i].option != NULL)
            assert_true(split_option_set(&l, rows[i].rule, rows[i].option, &why));
        for (int a = 0; a < 3; a++) {
            static const enum split_axis axes[] = {AXIS_BATCH, AXIS_LONGEST, AXIS_CAPACITY};
            bool want = a == 0 ? rows[i].batch : a == 1 ? rows[i].longest : rows[i].capacity;
            struct split_stretch *s;
            int64_t first, last;
            int count, kept = 0;
            split_axis_span(&l, axes[a], &first, &last);
            assert_true(
                split_stretches(rows[i].rule, NULL, &l, axes[a], first, last, &s, &count, &why));
            for (int n = 0; n < count; n++)
                kept += s[n].kept;
            if ((kept == count) != want)
                fail_msg("row %zu, %s: %d of %d kept", i, split_axis_name(axes[a]), kept, count);
            free(s);
        }
    }
}

/* One row, two batches: 32 groups of 256 alone, 7 of 1,280 among four; one fixed count, one cut. */
static void test_fixed_splits(void **state)
{
    (void)state;
    struct launch one = launch_of(1, 8192, 128, 132), four = launch_of(4, 8192, 128, 132);
    one.heads_kv = four.heads_kv = 8;
    struct split_plan a = plan_of(SPLIT_RULE_FA2_SPLIT, &one),
                      b = plan_of(SPLIT_RULE_FA2_SPLIT, &four);
    assert_int_equal(split_tokens(&a, 8192, 0), 256);
    assert_int_equal(split_tokens(&b, 8192, 0), 1280);
    assert_false(split_kept(&a, 8192, &b, 8192));
    one.num_splits = four.num_splits = 16;
    a = plan_of(SPLIT_RULE_FA2_SPLIT, &one);
    b = plan_of(SPLIT_RULE_FA2_SPLIT, &four);
    assert_true(split_kept(&a, 8192, &b, 8192));
    four.num_splits =
        17; /* the same cuts, of which one stays empty, and a combine of other lanes */
    b = plan_of(SPLIT_RULE_FA2_SPLIT, &four);
    assert_true(split_alike(&a, &b, 256));
    assert_false(split_kept(&a, 256, &b, 256));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alike_is_per_token), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_workload),           cmocka_unit_test(test_workload_depths),
        cmocka_unit_test(test_workload_undecided), cmocka_unit_test(test_stretches),
        cmocka_unit_test(test_neighbours),         cmocka_unit_test(test_fixed_splits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
