/* driver.h: one message between the grader and a lab file's process, the same in both
   directions. */
#ifndef FLASHULP_DRIVER_H
#define FLASHULP_DRIVER_H

#include "lab.h"

struct exchange {
    uint32_t step;   /* which function */
    uint32_t ticket; /* comes back as it was */
    struct state state;
    char report[256]; /* CUDA: the first thing that the emulator saw go wrong, or empty */
};

#endif
