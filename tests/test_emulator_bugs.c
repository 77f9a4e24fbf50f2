/* test_emulator_bugs.c: kernels with a mistake, compiled plainly: each ends in a report that names
   the line, under every order of threads; none hangs or takes the program down.  What only the
   detector sees is in test_emulator_races_checked.c. */
#include "tests/emulated/bug_case.h"

static const struct row {
    const char *bug;
    enum emulator_fault fault;
    bool by_symbol; /* found through the instruction's address */
} rows[] = {
    {"divergent_barrier", FAULT_DIVERGENT_BARRIER, false},
    {"half_warp_shuffle", FAULT_DEADLOCK, false},
    {"half_warp_mma", FAULT_DEADLOCK, false},
    {"exited_lane", FAULT_EXITED_LANE, false},
    {"mask_without_caller", FAULT_BAD_MASK, false},
    {"lane_outside_mask", FAULT_BAD_LANE, false},
    {"unwaited_copy", FAULT_UNWAITED_COPY, false},
    {"beyond_shared", FAULT_OUT_OF_BOUNDS, true},
    {"beyond_global", FAULT_OUT_OF_BOUNDS, true},
    {"null_pointer", FAULT_OUT_OF_BOUNDS, true},
    {"stack_overflow", FAULT_STACK_OVERFLOW, true},
    {"misaligned_ldmatrix", FAULT_MISALIGNED, false},
    {"copy_from_host", FAULT_OUT_OF_BOUNDS, false},
    {"spin", FAULT_STUCK, false},
    {"endless", FAULT_STUCK, true},
    {"named_barrier_short", FAULT_DEADLOCK, false},
    {"named_barrier_odd", FAULT_BAD_BARRIER, false},
#ifdef __x86_64__
    {"division", FAULT_CRASH, true},
    {"misaligned_access", FAULT_MISALIGNED, true},
#endif
};

static void every_bug_is_reported(void **state)
{
    (void)state;
    for (int order = EMULATOR_ASCENDING; order <= EMULATOR_RANDOM; order++)
        for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
            struct emulator_options options = emulator_defaults();
            options.threads = options.blocks = (enum emulator_order)order;
            options.stuck_seconds = 1;
            options.stuck_yields = 10000;
            emulator_configure(&options);
            if (order > EMULATOR_ASCENDING && strcmp(rows[i].bug, "endless") == 0)
                continue; /* a second each */
            launch_bug(rows[i].bug);
            assert_reported(rows[i].bug, rows[i].fault, rows[i].by_symbol);
        }
}

/* No line is known: the block is over when it is found. */
static void writing_just_past_the_end_is_found_afterwards(void **state)
{
    struct emulator_options options = emulator_defaults();
    (void)state;
    emulator_configure(&options);
    launch_bug("just_beyond_shared");
    assert_int_equal(emulator_reports(), 1);
    assert_int_equal(emulator_report(0)->fault, FAULT_OUT_OF_BOUNDS);
}

static void impossible_launches_are_refused(void **state)
{
    static const unsigned shapes[][3] = {{1, 2048, 0}, {1, 0, 0}, {0, 32, 0}, {1, 32, 300000}};
    struct emulator_options options = emulator_defaults();
    float zero = 0, *out = to_device(&zero, sizeof zero);
    (void)state;
    emulator_configure(&options);
    for (int i = 0; i < 4; i++) {
        emulator_reset();
        run_shape(shapes[i][0], shapes[i][1], shapes[i][2], out);
        assert_int_equal(emulator_reports(), 1);
        assert_int_equal(emulator_report(0)->fault, FAULT_BAD_LAUNCH);
    }
    from_device(&zero, out, sizeof zero);
    assert_true(zero == 0);
}

static void a_deadlock_is_a_table(void **state)
{
    struct emulator_options options = emulator_defaults();
    char expected[512];
    (void)state;
    emulator_configure(&options);
    launch_bug("half_warp_shuffle");
    const char *text = emulator_report(0)->text;
    snprintf(
        expected, sizeof expected,
        "\n     0  0-15            __shfl_xor_sync, mask ffffffff, for lanes 16-31 at %s:%d"
        "\n     0  16-31           __syncthreads at %s:%d\n     1  0-31            __syncthreads",
        BUGS_FILE, line_of("half_warp_shuffle", ""), BUGS_FILE,
        line_of("half_warp_shuffle", "_OTHER"));
    if (strstr(text, expected) == NULL)
        fail_msg("%s\nlacks%s", text, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bug_is_reported),
        cmocka_unit_test(writing_just_past_the_end_is_found_afterwards),
        cmocka_unit_test(impossible_launches_are_refused), cmocka_unit_test(a_deadlock_is_a_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
