/* test_emulator_races_checked.c: the race detector: kernels compiled so that every access is
   reported.  Mistakes that plain runs may not notice, each with both lines; right kernels stay
   silent under every order; banks and sectors of known patterns. */
#include "tests/emulated/bug_case.h"

static const struct row {
    const char *bug;
    enum emulator_fault fault;
} rows[] = {
    {"missing_syncwarp", FAULT_RACE},
    {"missing_barrier", FAULT_RACE},
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
            use_detector((enum emulator_order)order);
            launch_bug(rows[i].bug);
            assert_reported(rows[i].bug, rows[i].fault, true);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_bug_is_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
