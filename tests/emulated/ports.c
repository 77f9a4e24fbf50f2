/* ports.c: what the emulator does, in lines that are the same on every machine and with every way
   to switch stacks: sums, a digest of the tensor core's outputs, the reports of some bug kernels.
   Run by check_emulator_ports.sh; includes no test library, so that it is easily cross-compiled. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gpu/emulator/device.h"
#include "gpu/emulator/emulator.h"

void run_block_sum(float *total, const float *x, int n);
void run_mma(int bf16, float *d, const uint16_t *a, const uint16_t *b);
bool run_bug(const char *name, void *out, void *in, const float *host);

static void *to_device(const void *host, size_t bytes)
{
    void *p = dev_alloc(bytes);
    dev_copy_in(p, host, bytes);
    return p;
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void sums(void)
{
    for (int order = EMULATOR_ASCENDING; order <= EMULATOR_RANDOM; order++) {
        struct emulator_options options = emulator_defaults();
        float x[160], total = 0;
        options.threads = options.blocks = (enum emulator_order)order;
        emulator_configure(&options);
        emulator_reset();
        for (int i = 0; i < 160; i++)
            x[i] = 1.0f / (float)(i + 1);
        float *dx = to_device(x, sizeof x), *dt = to_device(&total, sizeof total);
        run_block_sum(dt, dx, 160);
        dev_copy_out(&total, dt, sizeof total);
        printf("sum %a, %d reports\n", (double)total, emulator_reports());
        dev_free(dx);
        dev_free(dt);
    }
}

/* FNV-1a over the outputs, NaNs canonical, of raw bits and of numbers around 1. */
static uint64_t digest_of(const char *unit)
{
    struct emulator_options options = emulator_defaults();
    struct message why;
    uint64_t state = 1, hash = UINT64_C(14695981039346656037);
    options.mma = unit != NULL ? mma_parse(unit, &why) : NULL;
    emulator_configure(&options);
    for (int n = 0; n < 200; n++) {
        uint16_t a[256], b[128];
        float d[128];
        for (int i = 0; i < 384; i++) {
            uint16_t bits = (uint16_t)splitmix(&state);
            bits = n % 4 == 3 ? bits : (uint16_t)(0x3F00 | (bits & 0x80FF));
            *(i < 256 ? &a[i] : &b[i - 256]) = bits;
        }
        for (int i = 0; i < 128; i++)
            d[i] = (float)(splitmix(&state) % 1000) / 7;
        uint16_t *da = to_device(a, sizeof a), *db = to_device(b, sizeof b);
        float *dd = to_device(d, sizeof d);
        run_mma(1, dd, da, db);
        dev_copy_out(d, dd, sizeof d);
        dev_free(da);
        dev_free(db);
        dev_free(dd);
        for (int i = 0; i < 128; i++) {
            uint32_t word;
            memcpy(&word, &d[i], sizeof word);
            word = isnan(d[i]) ? 0x7FC00000 : word;
            for (int k = 0; k < 4; k++)
                hash = (hash ^ (word >> 8 * k & 255)) * UINT64_C(1099511628211);
        }
    }
    return hash;
}

static void bugs(void)
{
    static const char *const names[] = {"divergent_barrier",
                                        "half_warp_shuffle",
                                        "exited_lane",
                                        "mask_without_caller",
                                        "unwaited_copy",
                                        "beyond_shared",
                                        "null_pointer",
                                        "stack_overflow",
                                        "spin",
                                        "endless"};
    static const float zeros[1024];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct emulator_options options = emulator_defaults();
        options.stuck_seconds = 1;
        options.stuck_yields = 10000;
        emulator_configure(&options);
        emulator_reset();
        void *out = to_device(zeros, 1024), *in = to_device(zeros, 4096);
        run_bug(names[i], out, in, zeros);
        printf("%s: %s\n", names[i],
               emulator_reports() > 0 ? emulator_fault_meaning(emulator_report(0)->fault)
                                      : "nothing");
        dev_free(out);
        dev_free(in);
    }
}

int main(void)
{
    sums();
    printf("fp32 %016" PRIx64 "\n", digest_of(NULL));
    printf("sm80 %016" PRIx64 "\n", digest_of("mma@sm80"));
    printf("sm90 %016" PRIx64 "\n", digest_of("mma@sm90"));
    bugs();
    return 0;
}
