/* legal_case.h: the kernels of legal.cu under every order, and what each must leave. */
#ifndef FLASHULP_TESTS_EMULATED_LEGAL_CASE_H
#define FLASHULP_TESTS_EMULATED_LEGAL_CASE_H

#include "tests/emulated/devices.h"

bool run_legal(const char *name, float *out, int *word);

static inline float half_warps_at(int n)
{
    return (float)(n < 16 ? n + (n ^ 1) : n - (n ^ 2));
}
static inline float early_exit_at(int n)
{
    return n < 40 ? 7 : 0;
}
static inline float pipeline_at(int n)
{
    return (float)(3 + n);
}
static inline float exchange_at(int n)
{
    return (float)(n ^ 1);
}
static inline float sixteen_at(int n)
{
    return (float)(n % 4);
}
static inline float tree_at(int n)
{
    (void)n;
    return 128;
}
static inline float last_at(int n)
{
    (void)n;
    return 7;
}
static inline float votes_at(int n)
{
    return (float)((n < 2 ? n : n - 2) + 100 * (n / 8 * 8 + 1));
}
static inline float lock_at(int n)
{
    (void)n;
    return 8;
}

/* What out[0 .. count) becomes; count 0: not looked at. */
static const struct legal {
    const char *name;
    int count;
    float (*at)(int n);
} legal[] = {
    {"half_warps", 32, half_warps_at},
    {"early_exit", 64, early_exit_at},
    {"pipeline", 32, pipeline_at},
    {"warp_exchange", 64, exchange_at},
    {"staged", 128, tree_at},
    {"shared_sixteen", 128, sixteen_at},
    {"tree", 128, tree_at},
    {"blocks_add_atomically", 0, NULL},
    {"last_block", 1, last_at},
    {"votes", 32, votes_at},
    {"lock", 1, lock_at},
};

/* Runs the kernel on zeros; out: 128 numbers. */
static inline void launch_legal(const char *name, float out[128])
{
    static const float zeros[128];
    int zero = 0;
    float *device = to_device(zeros, sizeof zeros);
    int *word = to_device(&zero, sizeof zero);
    emulator_reset();
    assert_true(run_legal(name, device, word));
    dev_copy_out(out, device, sizeof zeros);
    dev_free(device);
    dev_free(word);
}

static inline void assert_all_legal(const struct emulator_options *given)
{
    for (int order = EMULATOR_ASCENDING; order <= EMULATOR_RANDOM; order++)
        for (int i = 0; i < (int)(sizeof legal / sizeof legal[0]); i++) {
            struct emulator_options options = *given;
            float out[128];
            options.threads = options.blocks = (enum emulator_order)order;
            options.seed = (uint64_t)(order + i);
            emulator_configure(&options);
            launch_legal(legal[i].name, out);
            if (emulator_reports() > 0)
                fail_msg("%s, order %d: %s", legal[i].name, order, emulator_report(0)->text);
            for (int n = 0; n < legal[i].count; n++)
                if (out[n] != legal[i].at(n))
                    fail_msg("%s, order %d: out[%d] is %g, not %g", legal[i].name, order, n,
                             (double)out[n], (double)legal[i].at(n));
        }
}

#endif
