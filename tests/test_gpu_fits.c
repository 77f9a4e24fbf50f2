/* test_gpu_fits.c: which head sizes our CUDA kernels take where: on devices with as little shared
   memory as each architecture gives a block (CUDA C++ programming guide, "compute capabilities"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/launch.h"

/* The target, as far as gpu/pair.c asks it. */
static const struct row {
    const char *unit;
    int bytes;
    const char *kernel;
    int D;
    bool half;
    const char *refusal; /* NULL: it fits */
} *at, rows[] = {
    {"sm75", 64 << 10, "fa2", 128, true,
     "fa2: head size 128 takes 81920 bytes of shared memory; a block of sm75 has 65536: "
     "head size 64 or less is right"},
    {"sm75", 64 << 10, "fa2", 64, false,
     "fa2: an sm_75 has no bf16; fp16 is right (--dtype fp16)"},
    {"sm75", 64 << 10, "fa2", 64, true, NULL},
    {"sm75", 64 << 10, "fa2-rows", 256, true, NULL},
    {"sm75", 64 << 10, "splitk", 256, true,
     "splitk: head size 256 takes 90624 bytes of shared memory; a block of sm75 has 65536: "
     "head size 64 or less is right"},
    {"sm75", 64 << 10, "fa2-bwd", 128, true,
     "fa2-bwd: head size 128 takes 81920 bytes of shared memory; a block of sm75 has 65536: "
     "head size 64 or less is right"},
};
enum { ROWS = sizeof rows / sizeof *rows };

int target_shared_bytes(void)
{
    return at->bytes;
}

const char *target_unit(void)
{
    return at->unit;
}

const char *target_name(void)
{
    return at->unit;
}

static void refusals_say_what_fits(void **unused)
{
    (void)unused;
    for (int n = 0; n < ROWS; n++) {
        enum gpu_kernel k;
        struct message why = {""};
        at = &rows[n];
        assert_true(gpu_kernel_from_name(at->kernel, &k, &why));
        bool fits = gpu_fits(k, at->D, at->half, &why);
        assert_true(fits == (at->refusal == NULL));
        if (!fits)
            assert_string_equal(why.text, at->refusal);
    }
}

/* From sm_80 on every kernel takes every head size in both formats. */
static void newer_units_take_all(void **unused)
{
    static const struct row units[] = {{"sm80", 163 << 10, "", 0, false, NULL},
                                       {"sm86", 99 << 10, "", 0, false, NULL},
                                       {"sm89", 99 << 10, "", 0, false, NULL},
                                       {"sm90", 227 << 10, "", 0, false, NULL},
                                       {"sm100", 227 << 10, "", 0, false, NULL},
                                       {"sm120", 99 << 10, "", 0, false, NULL}};
    (void)unused;
    for (size_t n = 0; n < sizeof units / sizeof *units; n++)
        for (int k = 0; k < GPU_KERNELS; k++)
            for (int D = 32; D <= 256; D *= 2)
                for (int half = 0; half < 2; half++) {
                    struct message why;
                    at = &units[n];
                    if (!gpu_fits((enum gpu_kernel)k, D, half, &why))
                        fail_msg("%s: %s", at->unit, why.text);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_say_what_fits),
        cmocka_unit_test(newer_units_take_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
