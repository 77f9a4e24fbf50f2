/* cpu.h: the processor level whose bodies are used.

   A source named in the Makefile's LEVELLED is compiled once per level and exports one table of
   functions for each; its owner keeps an array of those tables indexed by cpu_level().  Every level
   computes the same bits.  Only x86-64 has more than the base level. */
#ifndef FLASHULP_CPU_H
#define FLASHULP_CPU_H

#ifdef __x86_64__
enum cpu_level { CPU_BASE, CPU_V3, CPU_V4, CPU_LEVELS };
#else
enum cpu_level { CPU_BASE, CPU_LEVELS };
#endif

/* The highest level this processor has.  FLASHULP_CPU=base|v3|v4 in the environment asks for a
   level; one that the processor lacks, or an unknown word, is ignored.  Read once, at the first
   call; any thread may call. */
enum cpu_level cpu_level(void);

/* "base", "v3" (AVX2, FMA) or "v4" (AVX-512). */
const char *cpu_level_name(enum cpu_level level);

#endif
