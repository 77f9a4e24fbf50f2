/* gpu_mutants.c: fa2.cu with one slip in each copy, run under every schedule: is it found?  Built
   by check_gpu_mutants.sh, which patches the copies.  A slip is found when the emulator reports,
   or when some bit differs from the unpatched kernel's.  Prints a line for each: "name X.X..XX".
   */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/emulator/device.h"
#include "gpu/emulator/emulator.h"
#include "gpu/kernels/kernels.h"

#define MUTANT(name) void mutant_##name(struct attention_args a);
#include "mutants.def"
#undef MUTANT

static const struct {
    const char *name;
    void (*run)(struct attention_args a);
} mutants[] = {
#define MUTANT(name) {#name, mutant_##name},
#include "mutants.def"
#undef MUTANT
};

enum { ROWS = 64, KEYS = 256, D = 64 };

static const struct {
    enum emulator_order order;
    bool late, detector;
} ways[] = {
    {EMULATOR_ASCENDING, false, false}, {EMULATOR_DESCENDING, false, false},
    {EMULATOR_RANDOM, false, false},    {EMULATOR_ASCENDING, true, false},
    {EMULATOR_DESCENDING, true, false}, {EMULATOR_RANDOM, true, false},
    {EMULATOR_ASCENDING, true, true},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* bf16 numbers in (-2, 2), from a fixed sequence. */
static uint16_t *numbers(int count, uint32_t seed)
{
    uint16_t *x = malloc((size_t)count * sizeof *x), *device = dev_alloc((size_t)count * sizeof *x);
    if (x == NULL || device == NULL)
        abort();
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (uint16_t)((seed >> 31 << 15) | (0x3E80u + (seed >> 8 & 0x17Fu)));
    }
    dev_copy_in(device, x, (size_t)count * sizeof *x);
    free(x);
    return device;
}

/* Runs it one way; false when the emulator reports. */
static bool run(void (*kernel)(struct attention_args a), struct attention_args a, int way,
                uint16_t *O)
{
    struct emulator_options o = emulator_defaults();
    o.threads = o.blocks = ways[way].order;
    o.late_copies = ways[way].late;
    o.detector = ways[way].detector;
    o.seed = 1;
    emulator_configure(&o);
    emulator_reset();
    kernel(a);
    dev_copy_out(O, a.o, ROWS * D * sizeof *O);
    return emulator_reports() == 0;
}

int main(void)
{
    static uint16_t right[ROWS * D], got[ROWS * D];
    struct attention_args a = {.q = numbers(ROWS * D, 1),
                               .k = numbers(KEYS * D, 2),
                               .v = numbers(KEYS * D, 3),
                               .o = dev_alloc(ROWS * D * 2),
                               .lse = dev_alloc(ROWS * 4),
                               .batch = 1,
                               .heads_q = 1,
                               .heads_kv = 1,
                               .rows = ROWS,
                               .keys = KEYS,
                               .D = D,
                               .scale = 0.125f};
    run(mutants[0].run, a, 0, right); /* the first is the kernel as it is */
    for (size_t m = 0; m < sizeof mutants / sizeof *mutants; m++) {
        char found[WAYS + 1] = "";
        for (int way = 0; way < WAYS; way++) {
            bool silent = run(mutants[m].run, a, way, got);
            found[way] = silent && memcmp(got, right, sizeof got) == 0 ? '.' : 'X';
        }
        printf("%s %s\n", mutants[m].name, found);
    }
    return 0;
}
