/* inputs.h: generated Q, K, V.  Part of the program, not of the library: inputs.c uses GSL.

   GSL gives random bits only; everything made of them is IEEE +, -, *, /, sqrt and special_wide, so
   a family, a seed and a shape are the same numbers on every machine (tests/test_inputs.c). */
#ifndef FLASHULP_INPUTS_H
#define FLASHULP_INPUTS_H

#include "simulator/scenario.h"

/* Generates; fp32 tensors of rank 4. */
generate_inputs inputs_generate;

struct input_family {
    const char *name, *meaning;
};
/* The n-th family, or NULL behind the last. */
const struct input_family *input_family(int n);

/* The GSL that is linked: "2.7.1". */
const char *inputs_gsl_version(void);

/* Lets scenarios use the families. */
void inputs_register(void);

#endif
