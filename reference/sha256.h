/* sha256.h: SHA-256 of bytes that come in pieces: names a file by what it holds.

   Follows FIPS 180-4, sections 5.1.1 and 6.2. */
#ifndef FLASHULP_SHA256_H
#define FLASHULP_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    unsigned char block[64];
    /* state after `count` more blocks of 64 bytes; chosen at the start by what the machine has */
    void (*compress)(uint32_t state[8], const unsigned char *blocks, size_t count);
};

struct sha256_text {
    char text[65]; /* lower-case hex */
};

void sha256_start(struct sha256 *s);
/* The same digest by the portable code whatever the machine has: for tests. */
void sha256_start_portable(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t count);
struct sha256_text sha256_end(struct sha256 *s);

#endif
