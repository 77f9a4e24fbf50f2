/* fibre.h: one stack per CUDA thread, and the switch from one to another.

   The switch is written by hand for x86-64 and aarch64: a few nanoseconds, callee-saved registers
   only (kernels leave the floating-point control words alone).  Elsewhere, and where
   FLASHULP_UCONTEXT is defined, it is swapcontext.  Stacks begin at different offsets ("colours"):
   at the same one all frames would share the same few cache sets. */
#ifndef FLASHULP_EMULATOR_FIBRE_H
#define FLASHULP_EMULATOR_FIBRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined FLASHULP_UCONTEXT && !defined __x86_64__ && !defined __aarch64__
#define FLASHULP_UCONTEXT
#endif

#ifdef FLASHULP_UCONTEXT
#include <ucontext.h>
struct fibre {
    ucontext_t context;
};
#else
struct fibre {
    void *stack; /* its top: the saved registers */
};
#endif

/* Saves the running fibre in `from`, goes on with `to`. */
#ifdef FLASHULP_UCONTEXT
void fibre_switch(struct fibre *from, struct fibre *to);
#else
void fibre_switch_stacks(void **from, void *to);
static inline void fibre_switch(struct fibre *from, struct fibre *to)
{
    fibre_switch_stacks(&from->stack, to->stack);
}
#endif
/* The next switch to f calls entry(), which does not return, on stack `number`. */
void fibre_prepare(struct fibre *f, int number, void (*entry)(void));

enum { FIBRE_STACKS = 1024 };
/* False: no memory for that many stacks. */
bool fibre_stacks_need(int count);
extern unsigned char *fibre_stacks; /* all stacks, side by side */
extern size_t fibre_stacks_bytes;
/* Does the address lie in some stack? */
static inline bool fibre_owns(const void *address)
{
    return (uintptr_t)address - (uintptr_t)fibre_stacks < fibre_stacks_bytes;
}
/* The number of the stack whose guard the address lies in, or -1. */
int fibre_guard_of(const void *address);

#endif
