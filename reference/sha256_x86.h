/* sha256_x86.h: the compression of SHA-256 by the SHA extensions of x86-64; sha256.c's own. */
#ifndef FLASHULP_SHA256_X86_H
#define FLASHULP_SHA256_X86_H

#include "reference/sha256.h"

extern const uint32_t sha256_constants[64];

/* NULL where the machine, or the architecture, has no such instructions. */
void (*sha256_x86_compress(void))(uint32_t state[8], const unsigned char *blocks, size_t count);

#endif
