/* test_emulator.c: kernels on the emulator, compiled plainly: what is right gives the right numbers
   and no report, in every order of threads and blocks. */
#include "tests/emulated/bug_case.h"
#include "tests/emulated/legal_case.h"

void run_scale(float *y, const float *x, float a, int n);
void run_block_sum(float *total, const float *x, int n);

static const struct schedule {
    const char *name;
    enum emulator_order order;
    bool late;
    uint64_t seed;
} schedules[] = {
    {"ascending", EMULATOR_ASCENDING, false, 1},
    {"ascending, late", EMULATOR_ASCENDING, true, 1},
    {"descending, late", EMULATOR_DESCENDING, true, 1},
    {"random, late", EMULATOR_RANDOM, true, 1},
    {"random", EMULATOR_RANDOM, false, 2},
};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

static void use_schedule(const struct schedule *s)
{
    struct emulator_options options = emulator_defaults();
    options.threads = options.blocks = s->order;
    options.late_copies = s->late;
    options.seed = s->seed;
    emulator_configure(&options);
    emulator_reset();
}

static void scales_every_element(void **state)
{
    enum { N = 200 };
    float x[N], y[N];
    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    for (int s = 0; s < SCHEDULES; s++) {
        float *dx = to_device(x, sizeof x), *dy = empty_on_device(sizeof y);
        use_schedule(&schedules[s]);
        run_scale(dy, dx, 0.5f, N);
        assert_silent();
        from_device(y, dy, sizeof y);
        for (int i = 0; i < N; i++)
            assert_true(y[i] == 0.5f * x[i]);
        dev_free(dx);
    }
}

static void sums_a_block(void **state)
{
    enum { N = 160 };
    float x[N];
    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    for (int s = 0; s < SCHEDULES; s++) {
        float total = 0;
        float *dx = to_device(x, sizeof x), *dt = to_device(&total, sizeof total);
        use_schedule(&schedules[s]);
        run_block_sum(dt, dx, N);
        assert_silent();
        from_device(&total, dt, sizeof total);
        assert_true(total == N * (N - 1) / 2);
        dev_free(dx);
    }
}

static void unusual_kernels_are_right(void **state)
{
    struct emulator_options options = emulator_defaults();
    (void)state;
    assert_all_legal(&options);
}

/* A sum of floats by atomic additions depends on the order of blocks and threads: on the seed. */
static void atomic_sums_depend_on_the_seed(void **state)
{
    float out[128] = {0}, first[2] = {0};
    int of_blocks = 0, of_threads = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct emulator_options options = emulator_defaults();
        options.threads = options.blocks = EMULATOR_RANDOM;
        options.seed = seed;
        for (int again = 0; again < 2; again++) {
            float before[2] = {out[0], out[1]};
            emulator_configure(&options);
            launch_legal("blocks_add_atomically", out);
            assert_silent();
            if (again == 1)
                assert_memory_equal(before, out, sizeof before);
        }
        if (seed == 1)
            memcpy(first, out, sizeof first);
        of_blocks += out[0] != first[0];
        of_threads += out[1] != first[1];
    }
    assert_true(of_blocks > 0 && of_threads > 0);
}

/* What a kernel that sums with atomics, or reads too early, gets: out[0 .. 64). */
static void run_with(const struct emulator_options *options, const char *bug, float out[64])
{
    static const float zeros[1024];
    float *dout = to_device(zeros, 1024), *din = to_device(zeros, 4096);
    emulator_configure(options);
    emulator_reset();
    assert_true(run_bug(bug, dout, din, zeros));
    dev_copy_out(out, dout, 64 * sizeof *out);
    dev_free(dout);
    dev_free(din);
}

static void ascending_and_descending_are_opposite(void **state)
{
    float up[128], down[128];
    struct emulator_options options = emulator_defaults();
    (void)state;
    emulator_configure(&options);
    launch_legal("blocks_add_atomically", up);
    options.threads = options.blocks = EMULATOR_DESCENDING;
    emulator_configure(&options);
    launch_legal("blocks_add_atomically", down);
    float blocks[2] = {0, 0}, threads[2] = {0, 0};
    for (int i = 0; i < 16; i++) {
        blocks[0] += 1.0f / (float)(1 + i);
        blocks[1] += 1.0f / (float)(16 - i);
        for (int n = 1; n < 9; n++) {
            threads[0] += 1.0f / (float)(1 + n * n);
            threads[1] += 1.0f / (float)(1 + (9 - n) * (9 - n));
        }
    }
    assert_true(up[0] == blocks[0] && down[0] == blocks[1] && up[0] != down[0]);
    assert_true(up[1] == threads[0] && down[1] == threads[1]);
}

static void late_copies_are_nan_until_the_wait(void **state)
{
    struct emulator_options options = emulator_defaults();
    float out[64];
    (void)state;
    run_with(&options, "copy_in_flight", out);
    assert_true(out[0] != out[0] && out[31] != out[31]);
    options.late_copies = false;
    run_with(&options, "copy_in_flight", out);
    assert_true(out[0] == 0 && out[31] == 0);
}

static void shared_memory_begins_as_nan(void **state)
{
    struct emulator_options options = emulator_defaults();
    float out[64];
    (void)state;
    run_with(&options, "uninitialised", out);
    assert_true(out[4] == 1 && out[5] != out[5]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scales_every_element),
                                       cmocka_unit_test(sums_a_block),
                                       cmocka_unit_test(unusual_kernels_are_right),
                                       cmocka_unit_test(atomic_sums_depend_on_the_seed),
                                       cmocka_unit_test(ascending_and_descending_are_opposite),
                                       cmocka_unit_test(late_copies_are_nan_until_the_wait),
                                       cmocka_unit_test(shared_memory_begins_as_nan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
