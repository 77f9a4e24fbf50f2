/* prims_emu.h: prims.h's one-instruction wrappers, for the emulator: same names, same operands.

   The lane layouts are written where the runtime gathers them (matrix.c).  ex2.approx has no
   equivalent on a CPU: exp2_approx stands in for it, to the last bit or so, and says nothing about
   the device's bits. */
#ifndef FLASHULP_EMULATOR_PRIMS_H
#define FLASHULP_EMULATOR_PRIMS_H

#include "gpu/emulator/cuemu.h"
#include "simulator/special_poly.h"

CUEMU_QUIET void cuemu_give(const float *d, const uint32_t *a, const uint32_t *b)
{
    cuemu_lane *l = cuemu_self;
    for (int i = 0; i < 4; i++) {
        l->a[CUEMU_LANES * i] = a[i];
        l->d[CUEMU_LANES * i] = d[i];
    }
    l->b[0] = b[0];
    l->b[CUEMU_LANES] = b[1];
}
CUEMU_QUIET void cuemu_take(float *d)
{
    for (int i = 0; i < 4; i++)
        d[i] = cuemu_self->d[CUEMU_LANES * i];
}
static inline void mma_m16n8k16_bf16(float d[4], const uint32_t a[4], const uint32_t b[2],
                                     cuemu_site at = cuemu_here())
{
    cuemu_give(d, a, b);
    cuemu_mma_bf16(at);
    cuemu_take(d);
}
static inline void mma_m16n8k16_f16(float d[4], const uint32_t a[4], const uint32_t b[2],
                                    cuemu_site at = cuemu_here())
{
    cuemu_give(d, a, b);
    cuemu_mma_f16(at);
    cuemu_take(d);
}

CUEMU_QUIET void cuemu_load(uint32_t *r, int matrices, int transposed, const void *row,
                            cuemu_site at)
{
    *cuemu_self->row = row;
    cuemu_ldmatrix(matrices, transposed, at);
    for (int i = 0; i < matrices; i++)
        r[i] = cuemu_self->loaded[CUEMU_LANES * i];
}
static inline void ldmatrix_x4(uint32_t r[4], const void *row, cuemu_site at = cuemu_here())
{
    cuemu_load(r, 4, 0, row, at);
}
static inline void ldmatrix_x4_trans(uint32_t r[4], const void *row, cuemu_site at = cuemu_here())
{
    cuemu_load(r, 4, 1, row, at);
}
static inline void ldmatrix_x2(uint32_t r[2], const void *row, cuemu_site at = cuemu_here())
{
    cuemu_load(r, 2, 0, row, at);
}
static inline void ldmatrix_x2_trans(uint32_t r[2], const void *row, cuemu_site at = cuemu_here())
{
    cuemu_load(r, 2, 1, row, at);
}

static inline void cp_async16(void *dst, const void *src, cuemu_site at = cuemu_here())
{
    cuemu_copy(dst, src, 16, at);
}
static inline void cp_async16_zfill(void *dst, const void *src, int bytes,
                                    cuemu_site at = cuemu_here())
{
    cuemu_copy(dst, src, bytes, at);
}
static inline void cp_async_commit()
{
    cuemu_copy_commit();
}
template <int most> static inline void cp_async_wait(cuemu_site at = cuemu_here())
{
    cuemu_copy_wait(most, at);
}

/* To nearest, ties to even; NaN gives 7FFF, as cvt.rn does. */
static inline uint16_t float_to_bf16(float x)
{
    uint32_t bits = __float_as_uint(x);
    uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
    return (uint16_t)(x != x ? 0x7FFFu : rounded);
}
static inline float bf16_to_float(uint16_t x)
{
    return __uint_as_float((uint32_t)x << 16);
}

static inline uint16_t float_to_f16(float x)
{
    uint32_t bits = __float_as_uint(x), sign = (bits >> 16) & 0x8000u;
    float size = fabsf(x);
    if (size != size)
        return 0x7FFFu;
    if (size >= 65520.0f) /* halfway from the largest to 2^16 */
        return (uint16_t)(sign | 0x7C00u);
    if (size <
        0x1p-14f) /* counted in steps of 2^-24: the addition rounds to a whole number of them */
        return (uint16_t)(sign | (__float_as_uint(size + 0.5f) - 0x3F000000u));
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    magnitude += 0xFFFu + ((magnitude >> 13) & 1u);
    return (uint16_t)(sign | ((magnitude - 0x38000000u) >> 13));
}
static inline float f16_to_float(uint16_t x)
{
    uint32_t sign = (uint32_t)(x & 0x8000u) << 16, magnitude = x & 0x7FFFu;
    if (magnitude >= 0x7C00u)
        return __uint_as_float(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
    float size = __uint_as_float(magnitude << 13) * 0x1p112f;
    return __uint_as_float(sign | __float_as_uint(size));
}

/* Two numbers in a register, the first in the low half. */
static inline uint32_t pack_bf16(float lo, float hi)
{
    return (uint32_t)float_to_bf16(hi) << 16 | float_to_bf16(lo);
}
static inline uint32_t pack_f16(float lo, float hi)
{
    return (uint32_t)float_to_f16(hi) << 16 | float_to_f16(lo);
}

static inline float exp2_poly(float x)
{
    return poly_exp2(x);
}
static inline float exp_poly(float x)
{
    return poly_exp(x);
}
static inline float log_poly(float x)
{
    return poly_log(x);
}
static inline float log2_poly(float x)
{
    return poly_log2(x);
}
/* Subnormal results and arguments count as zero, as .ftz says. */
static inline float rcp_approx(float x)
{
    float y = 1.0f / (fabsf(x) < 0x1p-126f ? x * 0.0f : x);
    return fabsf(y) < 0x1p-126f ? y * 0.0f : y;
}
static inline float log2_approx(float x)
{
    return log2f(fabsf(x) < 0x1p-126f ? 0.0f : x);
}
static inline float exp2_approx(float x)
{
    float y = exp2f(x);
    return y < 0x1p-126f ? 0.0f : y;
}

#endif
