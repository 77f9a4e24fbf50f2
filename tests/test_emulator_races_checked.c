/* test_emulator_races_checked.c: the race detector: kernels compiled so that every access is
   reported.  Mistakes that plain runs may not notice, each with both lines; right kernels stay
   silent under every order; banks and sectors of known patterns. */
#include "tests/emulated/bug_case.h"
#include "tests/emulated/legal_case.h"

void run_columns(float *out, const float *in, int words, int stride);

static const struct row {
    const char *bug;
    enum emulator_fault fault;
} rows[] = {
    {"missing_syncwarp", FAULT_RACE},
    {"missing_barrier", FAULT_RACE},
    {"wide_write", FAULT_RACE},
    {"narrow_write", FAULT_RACE},
    {"uninitialised", FAULT_UNINITIALISED},
    {"uninitialised_global", FAULT_UNINITIALISED},
    {"copy_in_flight", FAULT_IN_FLIGHT},
    {"copy_of_another", FAULT_RACE},
    {"blocks_add", FAULT_RACE},
    {"misaligned_access", FAULT_MISALIGNED},
    {"just_beyond_shared", FAULT_OUT_OF_BOUNDS},
    {"divergent_barrier", FAULT_DIVERGENT_BARRIER},
    {"half_warp_shuffle", FAULT_DEADLOCK},
    {"beyond_shared", FAULT_OUT_OF_BOUNDS},
};

static void use_detector(enum emulator_order order)
{
    struct emulator_options options = emulator_defaults();
    options.threads = options.blocks = order;
    options.detector = true;
    options.statistics = true;
    emulator_configure(&options);
}

static void every_bug_is_reported(void **state)
{
    (void)state;
    for (int order = EMULATOR_ASCENDING; order <= EMULATOR_RANDOM; order++)
        for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
            if (rows[i].fault == FAULT_MISALIGNED && !alignment_is_seen())
                continue;
            use_detector((enum emulator_order)order);
            launch_bug(rows[i].bug);
            assert_reported(rows[i].bug, rows[i].fault, true);
        }
}

static void right_kernels_stay_silent(void **state)
{
    struct emulator_options options = emulator_defaults();
    (void)state;
    options.detector = options.statistics = true;
    assert_all_legal(&options);
}

/* 32 rows of 32 words read by columns: every lane in one bank; of 33 words: each in its own.  A
   stride of 8 floats in global memory: a sector for each lane instead of one for eight. */
static void banks_and_sectors_are_counted(void **state)
{
    static const struct row {
        int words, stride, passes, sectors;
    } table[] = {
        {33, 1, 64, 8}, {32, 1, 32 + 32 * 32, 8}, {33, 8, 64, 36}, {32, 2, 32 + 32 * 32, 12}};
    static const float in[32 * 8];
    (void)state;
    for (int i = 0; i < 4; i++) {
        float out[32], *din = to_device(in, sizeof in), *dout = empty_on_device(sizeof out);
        use_detector(EMULATOR_ASCENDING);
        emulator_reset();
        run_columns(dout, din, table[i].words, table[i].stride);
        assert_silent();
        const struct emulator_counters *c = emulator_counters();
        assert_int_equal(c->shared_requests, 64);
        assert_int_equal(c->shared_ideal, 64);
        assert_int_equal(c->shared_passes, table[i].passes);
        assert_int_equal(c->global_requests, 2);
        assert_int_equal(c->global_ideal, 8);
        assert_int_equal(c->global_sectors, table[i].sectors);
        from_device(out, dout, sizeof out);
        assert_true(out[31] == 32);
        dev_free(din);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_bug_is_reported),
                                       cmocka_unit_test(right_kernels_stay_silent),
                                       cmocka_unit_test(banks_and_sectors_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
