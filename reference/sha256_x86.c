/* sha256_x86.c: see sha256_x86.h.  The instructions keep the working variables as the vectors
   ABEF and CDGH and do two rounds at a time; four message words lie in each of four vectors.
   Follows Intel's "New Instructions Supporting the Secure Hash Algorithm" (2013). */
#include "reference/sha256_x86.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/* Words t .. t+3 of the schedule from the sixteen before them: m[0] oldest, m[3] newest. */
__attribute__((target("sha,sse4.1,ssse3"))) static inline __m128i next_words(const __m128i m[4])
{
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(m[0], m[1]), _mm_alignr_epi8(m[3], m[2], 4));
    return _mm_sha256msg2_epu32(sum, m[3]);
}

__attribute__((target("sha,sse4.1,ssse3"))) static inline void
rounds(__m128i *abef, __m128i *cdgh, const unsigned char *block)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i m[4];
    for (int i = 0; i < 4; i++)
        m[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)block + i), swap);
    for (int t = 0; t < 64; t += 4) {
        const void *k = sha256_constants + t;
        __m128i w = _mm_add_epi32(m[0], _mm_loadu_si128(k)), newest = next_words(m);
        *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, w);
        *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(w, 0x0e));
        m[0] = m[1];
        m[1] = m[2];
        m[2] = m[3];
        m[3] = newest;
    }
}

__attribute__((target("sha,sse4.1,ssse3"))) static void
compress(uint32_t state[8], const unsigned char *blocks, size_t count)
{
    __m128i *low = (__m128i *)(void *)state, *high = low + 1;
    __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(low), 0xb1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(high), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; count > 0; count--, blocks += 64) {
        __m128i abef_before = abef, cdgh_before = cdgh;
        rounds(&abef, &cdgh, blocks);
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(low, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(high, _mm_alignr_epi8(dchg, feba, 8));
}

/* CPUID leaf 7, EBX bit 29: the SHA extensions; leaf 1, ECX bits 9 and 19: SSSE3 and SSE4.1. */
void (*sha256_x86_compress(void))(uint32_t state[8], const unsigned char *blocks, size_t count)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c >> 9 & 1) == 0 || (c >> 19 & 1) == 0)
        return NULL;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b >> 29 & 1) == 0)
        return NULL;
    return compress;
}
#else
void (*sha256_x86_compress(void))(uint32_t state[8], const unsigned char *blocks, size_t count)
{
    return NULL;
}
#endif
