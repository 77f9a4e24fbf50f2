/* cuemu.h: the words of CUDA that kernels use, for a host compiler (C++17, no CUDA header).

   A kernel file keeps its spelling; two words are ours: DYN_SHARED(name) for `extern __shared__`,
   LAUNCH(kernel, grid, block, shared_bytes, arguments...) for <<<>>>.  __shared__ arrays lie in a
   section of their own, which the runtime poisons before each block.  Arithmetic with _rn is one
   IEEE operation: compile with -ffp-contract=off. */
#ifndef FLASHULP_EMULATOR_CUEMU_H
#define FLASHULP_EMULATOR_CUEMU_H

#include <math.h>
#include <string.h>

#include "gpu/emulator/calls.h"
#include "gpu/emulator/device.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#ifdef __APPLE__
#define CUEMU_SHARED_SECTION "__DATA,cuemu_shared"
#else
#define CUEMU_SHARED_SECTION "cuemu_shared"
#endif
#define __shared__ static __attribute__((section(CUEMU_SHARED_SECTION), aligned(16)))
#define DYN_SHARED(name) unsigned char *const name = cuemu_grid.shared

#define threadIdx (cuemu_self->thread)
#define blockIdx (cuemu_grid.block)
#define blockDim (cuemu_grid.block_size)
#define gridDim (cuemu_grid.grid_size)
enum { warpSize = 32 };

/* What passes operands to the runtime is not the kernel's own access: the detector is not told. */
#if defined __SANITIZE_THREAD__
#define CUEMU_QUIET static __attribute__((no_sanitize("thread"), noinline, unused))
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define CUEMU_QUIET static __attribute__((no_sanitize("thread"), noinline, unused))
#endif
#endif
#ifndef CUEMU_QUIET
#define CUEMU_QUIET static inline
#endif

struct dim3 : cuemu_index {
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : cuemu_index{x_, y_, z_}
    {
    }
};

struct __align__(8) uint2
{
    unsigned x, y;
};
struct __align__(16) uint4
{
    unsigned x, y, z, w;
};
struct __align__(8) int2
{
    int x, y;
};
struct __align__(16) int4
{
    int x, y, z, w;
};
struct __align__(8) float2
{
    float x, y;
};
struct __align__(16) float4
{
    float x, y, z, w;
};

static inline uint2 make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}
static inline int2 make_int2(int x, int y)
{
    return {x, y};
}
static inline int4 make_int4(int x, int y, int z, int w)
{
    return {x, y, z, w};
}
static inline float2 make_float2(float x, float y)
{
    return {x, y};
}
static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

/* Where the caller of the function it is a default argument of stands. */
static inline constexpr cuemu_site cuemu_here(const char *file = __builtin_FILE(),
                                              int line = __builtin_LINE())
{
    return cuemu_site{file, line};
}

template <class... Parameters, class... Arguments>
static void cuemu_start(void (*kernel)(Parameters...), const char *name, dim3 grid, dim3 block,
                        size_t shared_bytes, cuemu_site at, Arguments... arguments)
{
    auto body = [&] { kernel(arguments...); };
    cuemu_launch launch = {name,
                           grid,
                           block,
                           shared_bytes,
                           [](void *with) { (*static_cast<decltype(body) *>(with))(); },
                           &body};
    cuemu_run(&launch, at);
}
#define LAUNCH(kernel, grid, block, shared_bytes, ...)                                             \
    cuemu_start(kernel, #kernel, grid, block, shared_bytes, cuemu_here(), ##__VA_ARGS__)

static inline void __syncthreads(cuemu_site at = cuemu_here())
{
    cuemu_syncthreads(at);
}
static inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, cuemu_site at = cuemu_here())
{
    cuemu_syncwarp(mask, at);
}
static inline void named_barrier(int id, int threads, cuemu_site at = cuemu_here())
{
    cuemu_named_barrier(id, threads, at);
}
static inline void __threadfence()
{
}
static inline void __threadfence_block()
{
}
static inline void __nanosleep(unsigned, cuemu_site at = cuemu_here())
{
    cuemu_yield(at);
}

template <class T> static inline uint64_t cuemu_bits(T x)
{
    static_assert(sizeof x <= 8, "shuffles move at most eight bytes");
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof x);
    return bits;
}
template <class T> static inline T cuemu_value(uint64_t bits)
{
    T x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
CUEMU_QUIET uint64_t cuemu_shuffled(enum cuemu_shuffle kind, unsigned mask, uint64_t bits,
                                    int argument, int width, cuemu_site at)
{
    cuemu_shuffle(kind, mask, bits, argument, width, at);
    return cuemu_self->result;
}
CUEMU_QUIET unsigned cuemu_votes(unsigned mask, int predicate, cuemu_site at)
{
    cuemu_ballot(mask, predicate, at);
    return (unsigned)cuemu_self->result;
}

template <class T>
static inline T __shfl_sync(unsigned mask, T x, int lane, int width = 32,
                            cuemu_site at = cuemu_here())
{
    return cuemu_value<T>(
        cuemu_shuffled(CUEMU_SHUFFLE_INDEX, mask, cuemu_bits(x), lane, width, at));
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T x, unsigned by, int width = 32,
                               cuemu_site at = cuemu_here())
{
    return cuemu_value<T>(
        cuemu_shuffled(CUEMU_SHUFFLE_UP, mask, cuemu_bits(x), (int)by, width, at));
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T x, unsigned by, int width = 32,
                                 cuemu_site at = cuemu_here())
{
    return cuemu_value<T>(
        cuemu_shuffled(CUEMU_SHUFFLE_DOWN, mask, cuemu_bits(x), (int)by, width, at));
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T x, int by, int width = 32,
                                cuemu_site at = cuemu_here())
{
    return cuemu_value<T>(cuemu_shuffled(CUEMU_SHUFFLE_XOR, mask, cuemu_bits(x), by, width, at));
}
static inline unsigned __ballot_sync(unsigned mask, int predicate, cuemu_site at = cuemu_here())
{
    return cuemu_votes(mask, predicate, at);
}
static inline int __any_sync(unsigned mask, int predicate, cuemu_site at = cuemu_here())
{
    return cuemu_votes(mask, predicate, at) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, cuemu_site at = cuemu_here())
{
    return cuemu_votes(mask, !predicate, at) == 0;
}
static inline unsigned __activemask()
{
    return cuemu_active_mask();
}

static inline float __uint_as_float(unsigned bits)
{
    return cuemu_value<float>(bits);
}
static inline float __int_as_float(int bits)
{
    return cuemu_value<float>((uint32_t)bits);
}
static inline unsigned __float_as_uint(float x)
{
    return cuemu_value<unsigned>(cuemu_bits(x));
}
static inline int __float_as_int(float x)
{
    return cuemu_value<int>(cuemu_bits(x));
}

static inline float atomicAdd(float *p, float x, cuemu_site at = cuemu_here())
{
    return __uint_as_float(cuemu_atomic(CUEMU_ADD_FLOAT, p, __float_as_uint(x), 0, at));
}
#define CUEMU_ATOMIC(name, signed_kind, unsigned_kind)                                             \
    static inline int name(int *p, int x, cuemu_site at = cuemu_here())                            \
    {                                                                                              \
        return (int)cuemu_atomic(signed_kind, p, (uint32_t)x, 0, at);                              \
    }                                                                                              \
    static inline unsigned name(unsigned *p, unsigned x, cuemu_site at = cuemu_here())             \
    {                                                                                              \
        return cuemu_atomic(unsigned_kind, p, x, 0, at);                                           \
    }
CUEMU_ATOMIC(atomicAdd, CUEMU_ADD, CUEMU_ADD)
CUEMU_ATOMIC(atomicMin, CUEMU_MIN, CUEMU_UMIN)
CUEMU_ATOMIC(atomicMax, CUEMU_MAX, CUEMU_UMAX)
CUEMU_ATOMIC(atomicAnd, CUEMU_AND, CUEMU_AND)
CUEMU_ATOMIC(atomicOr, CUEMU_OR, CUEMU_OR)
CUEMU_ATOMIC(atomicExch, CUEMU_EXCHANGE, CUEMU_EXCHANGE)
static inline int atomicCAS(int *p, int compare, int x, cuemu_site at = cuemu_here())
{
    return (int)cuemu_atomic(CUEMU_SWAP, p, (uint32_t)x, (uint32_t)compare, at);
}
static inline unsigned atomicCAS(unsigned *p, unsigned compare, unsigned x,
                                 cuemu_site at = cuemu_here())
{
    return cuemu_atomic(CUEMU_SWAP, p, x, compare, at);
}

/* a b + c in one rounding.  At baseline x86-64 fmaf is a call into the library, and everything that
   lives in registers is saved around it. */
static inline float cuemu_fmaf(float a, float b, float c)
{
#if defined __x86_64__ && !defined __FMA__
    if (__builtin_expect(cuemu_has_fma, 1)) {
        __asm__("vfmadd231ss %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
        return c;
    }
    return cuemu_library_fmaf(a, b, c);
#else
    return __builtin_fmaf(a, b, c);
#endif
}
#define fmaf cuemu_fmaf
static inline float __fmaf_rn(float a, float b, float c)
{
    return cuemu_fmaf(a, b, c);
}
static inline float __fmul_rn(float a, float b)
{
    return a * b;
}
static inline float __fadd_rn(float a, float b)
{
    return a + b;
}
static inline float __fsub_rn(float a, float b)
{
    return a - b;
}
static inline float __fdiv_rn(float a, float b)
{
    return a / b;
}
static inline float __frcp_rn(float a)
{
    return 1.0f / a;
}
static inline float __fsqrt_rn(float a)
{
    return sqrtf(a);
}
static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
static inline int __clz(int x)
{
    return x == 0 ? 32 : __builtin_clz((unsigned)x);
}

/* As the device's: a NaN loses to a number, -0 is less than +0. */
static inline float cuemu_fmaxf(float a, float b)
{
    float larger = a > b || b != b ? a : b;
    return a == b ? __uint_as_float(__float_as_uint(a) & __float_as_uint(b)) : larger;
}
static inline float cuemu_fminf(float a, float b)
{
    float smaller = a < b || b != b ? a : b;
    return a == b ? __uint_as_float(__float_as_uint(a) | __float_as_uint(b)) : smaller;
}
#define fmaxf cuemu_fmaxf
#define fminf cuemu_fminf
#define CUEMU_MIN_MAX(type)                                                                        \
    static inline type min(type a, type b)                                                         \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    static inline type max(type a, type b)                                                         \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }
CUEMU_MIN_MAX(int)
CUEMU_MIN_MAX(unsigned)
CUEMU_MIN_MAX(long)
CUEMU_MIN_MAX(unsigned long)
CUEMU_MIN_MAX(long long)
CUEMU_MIN_MAX(unsigned long long)

#endif
