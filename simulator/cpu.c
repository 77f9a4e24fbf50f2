/* cpu.c: asks the processor, and the environment, once.  The levels are the x86-64 psABI's. */
#include "simulator/cpu.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[CPU_LEVELS] = {
    "base",
#ifdef __x86_64__
    "v3",
    "v4",
#endif
};

static enum cpu_level chosen = CPU_BASE;

static bool has_level(int level)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    return level == CPU_BASE || (level == CPU_V3 && v3) || (level == CPU_V4 && v4);
#else
    return level == CPU_BASE;
#endif
}

static void choose(void)
{
    const char *asked = getenv("FLASHULP_CPU");
    for (int level = 0; level < CPU_LEVELS; level++) {
        if (!has_level(level))
            continue;
        chosen = (enum cpu_level)level;
        if (asked != NULL && strcmp(asked, names[level]) == 0)
            return;
    }
}

enum cpu_level cpu_level(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return chosen;
}

const char *cpu_level_name(enum cpu_level level)
{
    return names[level];
}
