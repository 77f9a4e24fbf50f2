/* sha256.c: see sha256.h.  The portable loop reads like the standard; on x86-64 with the SHA
   extensions sha256_x86.c does the same eight times as fast. */
#include "reference/sha256_x86.h"

#include <stdio.h>
#include <string.h>

const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* W_t of the standard's step 1. */
static void schedule(uint32_t w[64], const unsigned char *block)
{
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | (uint32_t)block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

static void compress(uint32_t state[8], const unsigned char *blocks, size_t count)
{
    for (; count > 0; count--, blocks += 64) {
        uint32_t w[64], v[8]; /* v: the working variables a .. h */
        schedule(w, blocks);
        memcpy(v, state, sizeof v);
        for (int t = 0; t < 64; t++) {
            uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
            uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
            uint32_t t1 = v[7] + s1 + choice + sha256_constants[t] + w[t];
            uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
            uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            memmove(v + 1, v, 7 * sizeof v[0]);
            v[4] += t1;
            v[0] = t1 + s0 + majority;
        }
        for (int i = 0; i < 8; i++)
            state[i] += v[i];
    }
}

void sha256_start_portable(struct sha256 *s)
{
    *s = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
                         .compress = compress};
}

void sha256_start(struct sha256 *s)
{
    sha256_start_portable(s);
    if (sha256_x86_compress() != NULL)
        s->compress = sha256_x86_compress();
}

void sha256_add(struct sha256 *s, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    size_t held = s->length % 64, room = 64 - held;
    s->length += count;
    if (held > 0 || count < 64) {
        size_t first = count < room ? count : room;
        if (first > 0)
            memcpy(s->block + held, at, first);
        at += first;
        count -= first;
        if (first < room)
            return;
        s->compress(s->state, s->block, 1);
    }
    s->compress(s->state, at, count / 64);
    if (count % 64 > 0)
        memcpy(s->block, at + count / 64 * 64, count % 64);
}

struct sha256_text sha256_end(struct sha256 *s)
{
    static const unsigned char padding[64] = {0x80};
    struct sha256_text digest;
    unsigned char bits[8];
    size_t held = s->length % 64;
    for (int i = 0; i < 8; i++)
        bits[i] = (unsigned char)((s->length * 8) >> (56 - 8 * i));
    sha256_add(s, padding, held < 56 ? 56 - held : 120 - held);
    sha256_add(s, bits, sizeof bits);
    for (int i = 0; i < 8; i++)
        snprintf(digest.text + 8 * i, 9, "%08x", s->state[i]);
    return digest;
}
