/* test_devices.c: devices by name, and figures that must agree with each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/devices.h"

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        enum device device;
    } rows[] = {{"H200", DEVICE_H200},
                {"h200", DEVICE_H200},
                {"rtx-pro-6000", DEVICE_RTX_PRO_6000},
                {"H100-pcie", DEVICE_H100_PCIE},
                {"t4", DEVICE_T4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum device d = DEVICE_COUNT;
        struct message why;
        if (!device_from_name(rows[i].word, &d, &why) || d != rows[i].device)
            fail_msg("%s is not %s", rows[i].word, device_info(rows[i].device)->name);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *word, *sentence;
    } rows[] = {
        {"SM120", "SM120 is an architecture, not a device; RTX-PRO-6000 (188 SMs) or RTX-5090 (170 "
                  "SMs) is right"},
        {"sm90",
         "sm90 is an architecture, not a device; H100-SXM (132 SMs), H100-PCIe (114 SMs) or "
         "H200 (132 SMs) is right"},
        {"sm100", "sm100 is an architecture, not a device; B200 (148 SMs) is right"},
        {"H100", "H100 is no device; H100-SXM (132 SMs) or H100-PCIe (114 SMs) is right"},
        {"H20", "H20 is no device; H200 (132 SMs) is right"},
        {"B2000", "unknown device \"B2000\"; did you mean B200?"},
        {"MI300X", "unknown device \"MI300X\"; flashulp list devices"},
        {"", "unknown device \"\"; flashulp list devices"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum device d;
        struct message why;
        assert_false(device_from_name(rows[i].word, &d, &why));
        assert_string_equal(why.text, rows[i].sentence);
    }
}

/* FLOPs of one SM in one cycle: fp32 lanes twice; dense bf16 with fp32 accumulation. */
static const struct {
    enum architecture architecture;
    double fp32, bf16; /* bf16 0: differs between devices of the architecture, or none */
} per_cycle[] = {{ARCHITECTURE_SM75, 128, 0},  {ARCHITECTURE_SM80, 128, 2048},
                 {ARCHITECTURE_SM89, 256, 0},  {ARCHITECTURE_SM90, 256, 4096},
                 {ARCHITECTURE_SM100, 256, 0}, {ARCHITECTURE_SM120, 256, 0}};

static void close_to(enum device d, enum quantity_id q, double want)
{
    double got = device_figure(d, q, NULL);
    if (fabs(got - want) > 0.01 * want)
        fail_msg("%s: %s is %g, but SMs x FLOPs x clock is %g", device_info(d)->name,
                 quantity_name(q), got, want);
}

static void test_figures_agree(void **state)
{
    (void)state;
    for (int d = 0; d < DEVICE_COUNT; d++) {
        int a = (int)device_info((enum device)d)->architecture;
        double sms = device_figure((enum device)d, QUANTITY_SMS, NULL);
        double clock = device_figure((enum device)d, QUANTITY_CLOCK, NULL) * 1e-6;
        double tensor = device_figure((enum device)d, QUANTITY_TENSOR_CLOCK, NULL) * 1e-6;
        assert_int_equal(per_cycle[a].architecture, a);
        if (clock > 0)
            close_to((enum device)d, QUANTITY_FP32, sms * per_cycle[a].fp32 * clock);
        if (tensor > 0 && per_cycle[a].bf16 > 0)
            close_to((enum device)d, QUANTITY_BF16, sms * per_cycle[a].bf16 * tensor);
    }
}

static void test_sources(void **state)
{
    (void)state;
    for (int d = 0; d < DEVICE_COUNT; d++)
        for (int q = 0; q < QUANTITY_COUNT; q++) {
            const char *source;
            double x = device_figure((enum device)d, (enum quantity_id)q, &source);
            assert_true((x > 0) == (source != NULL && source[0] != 0));
            if (q == QUANTITY_SMS || q == QUANTITY_FP32 || q == QUANTITY_BANDWIDTH)
                assert_true(x > 0);
        }
    const char *source;
    assert_true(device_figure(DEVICE_H200, QUANTITY_CLOCK, &source) == 0 && source == NULL);
    assert_true(device_figure(DEVICE_T4, QUANTITY_BF16, &source) == 0 && source == NULL);
}

static void test_published(void **state)
{
    (void)state;
    assert_true(device_figure(DEVICE_A100, QUANTITY_SMS, NULL) == 108);
    assert_true(device_figure(DEVICE_A100, QUANTITY_BF16, NULL) == 312);
    assert_true(device_figure(DEVICE_A100, QUANTITY_FP32, NULL) == 19.5);
    assert_true(device_figure(DEVICE_H200, QUANTITY_SMS, NULL) == 132);
    assert_true(device_figure(DEVICE_B200, QUANTITY_SMS, NULL) == 148);
    assert_true(device_figure(DEVICE_RTX_PRO_6000, QUANTITY_SMS, NULL) == 188);
    assert_int_equal(architecture_info(ARCHITECTURE_SM80)->shared_per_block, 163);
    assert_int_equal(architecture_info(ARCHITECTURE_SM89)->shared_per_block, 99);
    assert_int_equal(architecture_info(ARCHITECTURE_SM90)->shared_per_block, 227);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_figures_agree), cmocka_unit_test(test_sources),
        cmocka_unit_test(test_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
