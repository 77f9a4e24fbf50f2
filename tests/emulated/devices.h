/* devices.h: what the emulator's tests share: numbers on the emulated device, and silence. */
#ifndef FLASHULP_TESTS_EMULATED_DEVICES_H
#define FLASHULP_TESTS_EMULATED_DEVICES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/emulator/device.h"
#include "gpu/emulator/emulator.h"

static inline void *to_device(const void *host, size_t bytes)
{
    void *p = dev_alloc(bytes);
    assert_non_null(p);
    dev_copy_in(p, host, bytes);
    return p;
}

static inline void *empty_on_device(size_t bytes)
{
    void *p = dev_alloc(bytes);
    assert_non_null(p);
    return p;
}

/* Fetches and frees. */
static inline void from_device(void *host, void *p, size_t bytes)
{
    dev_copy_out(host, p, bytes);
    dev_free(p);
}

static inline void assert_silent(void)
{
    if (emulator_reports() > 0)
        fail_msg("reported: %s", emulator_report(0)->text);
}

static inline uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

#endif
