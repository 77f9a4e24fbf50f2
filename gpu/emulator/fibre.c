/* fibre.c: see fibre.h. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "gpu/emulator/fibre.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif
#if defined __SANITIZE_ADDRESS__ || !defined __OPTIMIZE__
enum { STACK_BYTES = 1 << 18 };
#else
enum { STACK_BYTES = 1 << 16 };
#endif
enum { LEAST_GUARD = 1 << 16, COLOUR_BYTES = 320, COLOURS = 48 };

/* Of each slot the lower part is the guard: wider than any frame, and such that a slot is an odd
   number of pages: at an even stride the stacks would share few places of the TLB. */
static size_t guard_bytes, slot_bytes;
unsigned char *fibre_stacks;
size_t fibre_stacks_bytes;
static int ready; /* stacks whose guard has been removed */

bool fibre_stacks_need(int count)
{
    if (fibre_stacks == NULL) {
        guard_bytes = LEAST_GUARD + (size_t)sysconf(_SC_PAGESIZE);
        slot_bytes = guard_bytes + STACK_BYTES;
        size_t bytes = FIBRE_STACKS * slot_bytes;
        void *room =
            mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED)
            return false;
        fibre_stacks = room;
        fibre_stacks_bytes = bytes;
    }
    for (; ready < count; ready++)
        if (mprotect(fibre_stacks + (size_t)ready * slot_bytes + guard_bytes, STACK_BYTES,
                     PROT_READ | PROT_WRITE) != 0)
            return false;
    return true;
}

int fibre_guard_of(const void *address)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)fibre_stacks;
    if (!fibre_owns(address) || offset % slot_bytes >= guard_bytes)
        return -1;
    return (int)(offset / slot_bytes);
}

/* A stack as it was given: what an abandoned lane's frames marked is forgotten. */
static unsigned char *fresh_stack(int number)
{
    unsigned char *stack = fibre_stacks + (size_t)number * slot_bytes + guard_bytes;
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(stack, STACK_BYTES);
#endif
    return stack;
}

#ifdef FLASHULP_UCONTEXT

void fibre_switch(struct fibre *from, struct fibre *to)
{
    swapcontext(&from->context, &to->context);
}

void fibre_prepare(struct fibre *f, int number, void (*entry)(void))
{
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = fresh_stack(number);
    f->context.uc_stack.ss_size = STACK_BYTES;
    f->context.uc_link = NULL;
    makecontext(&f->context, entry, 0);
}

#else

#define SYMBOL_(prefix, name) #prefix #name
#define SYMBOL__(prefix, name) SYMBOL_(prefix, name)
#define SYMBOL(name) SYMBOL__(__USER_LABEL_PREFIX__, name)

/* What a saved fibre's stack holds, from its top: the callee-saved registers and where to go on. */
#ifdef __x86_64__
enum { SAVED_WORDS = 7, ENTRY_WORD = 6, WORDS_ABOVE = 1 };
__asm__(
    ".text\n"
    ".p2align 5\n"
    ".globl " SYMBOL(fibre_switch_stacks) "\n" SYMBOL(fibre_switch_stacks) ":\n"
                                                                           "    pushq %rbp\n"
                                                                           "    pushq %rbx\n"
                                                                           "    pushq %r12\n"
                                                                           "    pushq %r13\n"
                                                                           "    pushq %r14\n"
                                                                           "    pushq %r15\n"
                                                                           "    movq %rsp, (%rdi)\n"
                                                                           "    movq %rsi, %rsp\n"
                                                                           "    popq %r15\n"
                                                                           "    popq %r14\n"
                                                                           "    popq %r13\n"
                                                                           "    popq %r12\n"
                                                                           "    popq %rbx\n"
                                                                           "    popq %rbp\n"
                                                                           "    popq %rcx\n"
                                                                           "    jmpq *%rcx\n");
#else
enum { SAVED_WORDS = 20, ENTRY_WORD = 11, WORDS_ABOVE = 2 };
__asm__(".text\n"
        ".p2align 5\n"
        ".globl " SYMBOL(fibre_switch_stacks) "\n" SYMBOL(
            fibre_switch_stacks) ":\n"
                                 "    sub sp, sp, #160\n"
                                 "    stp x19, x20, [sp]\n"
                                 "    stp x21, x22, [sp, #16]\n"
                                 "    stp x23, x24, [sp, #32]\n"
                                 "    stp x25, x26, [sp, #48]\n"
                                 "    stp x27, x28, [sp, #64]\n"
                                 "    stp x29, x30, [sp, #80]\n"
                                 "    stp d8, d9, [sp, #96]\n"
                                 "    stp d10, d11, [sp, #112]\n"
                                 "    stp d12, d13, [sp, #128]\n"
                                 "    stp d14, d15, [sp, #144]\n"
                                 "    mov x2, sp\n"
                                 "    str x2, [x0]\n"
                                 "    mov sp, x1\n"
                                 "    ldp x19, x20, [sp]\n"
                                 "    ldp x21, x22, [sp, #16]\n"
                                 "    ldp x23, x24, [sp, #32]\n"
                                 "    ldp x25, x26, [sp, #48]\n"
                                 "    ldp x27, x28, [sp, #64]\n"
                                 "    ldp x29, x30, [sp, #80]\n"
                                 "    ldp d8, d9, [sp, #96]\n"
                                 "    ldp d10, d11, [sp, #112]\n"
                                 "    ldp d12, d13, [sp, #128]\n"
                                 "    ldp d14, d15, [sp, #144]\n"
                                 "    add sp, sp, #160\n"
                                 "    br x30\n");
#endif

/* At a function's first instruction the stack is a return address, here 0, short of a multiple of
   16 on x86-64, a multiple of 16 on aarch64. */
void fibre_prepare(struct fibre *f, int number, void (*entry)(void))
{
    unsigned char *end = fresh_stack(number) + STACK_BYTES - COLOUR_BYTES * (number % COLOURS);
    uintptr_t *top = (uintptr_t *)end - WORDS_ABOVE - SAVED_WORDS;
    for (int i = 0; i < SAVED_WORDS + WORDS_ABOVE; i++)
        top[i] = 0;
    top[ENTRY_WORD] = (uintptr_t)entry;
    f->stack = top;
}

#endif
