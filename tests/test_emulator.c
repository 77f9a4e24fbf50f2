/* test_emulator.c: kernels on the emulator, compiled plainly: what is right gives the right numbers
   and no report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/emulator/device.h"
#include "gpu/emulator/emulator.h"

void run_scale(float *y, const float *x, float a, int n);
void run_block_sum(float *total, const float *x, int n);

static void *to_device(const void *host, size_t bytes)
{
    void *p = dev_alloc(bytes);
    assert_non_null(p);
    dev_copy_in(p, host, bytes);
    return p;
}

static void assert_silent(void)
{
    if (emulator_reports() > 0)
        fail_msg("reported: %s", emulator_report(0)->text);
}

static void scales_every_element(void **state)
{
    enum { N = 200 };
    float x[N], y[N];
    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    float *dx = to_device(x, sizeof x), *dy = dev_alloc(sizeof y);
    emulator_reset();
    run_scale(dy, dx, 0.5f, N);
    assert_silent();
    dev_copy_out(y, dy, sizeof y);
    for (int i = 0; i < N; i++)
        assert_true(y[i] == 0.5f * x[i]);
    dev_free(dx);
    dev_free(dy);
}

static void sums_a_block(void **state)
{
    enum { N = 160 };
    float x[N], total = 0;
    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    float *dx = to_device(x, sizeof x), *dt = to_device(&total, sizeof total);
    emulator_reset();
    run_block_sum(dt, dx, N);
    assert_silent();
    dev_copy_out(&total, dt, sizeof total);
    assert_true(total == N * (N - 1) / 2);
    dev_free(dx);
    dev_free(dt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scales_every_element),
                                       cmocka_unit_test(sums_a_block)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
