/* prims_ptx.h: prims.h for nvcc: one instruction a wrapper, nothing else.  PTX ISA, the sections on
   mma, ldmatrix, cp.async, cvt and ex2.

   sm_75 has no cp.async (an ordinary copy stands in), no bf16, and multiplies fp16 eight deep: two
   instructions, in the order in which later units take the halves. */
#ifndef FLASHULP_PRIMS_PTX_H
#define FLASHULP_PRIMS_PTX_H

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/emulator/device.h"

#define DEVICE static __device__ __forceinline__
#define DYN_SHARED(name) extern __shared__ __align__(128) unsigned char name[]

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define OLD_DEVICE 1
#else
#define OLD_DEVICE 0
#endif

DEVICE uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

DEVICE void mma_m16n8k16_bf16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
#if OLD_DEVICE
    (void)d, (void)a, (void)b;
    __trap(); /* bf16 is refused before the launch */
#else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

DEVICE void mma_m16n8k16_f16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
#if OLD_DEVICE
    for (int half = 0; half < 2; half++)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
#else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

DEVICE void ldmatrix_x4(uint32_t r[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

DEVICE void ldmatrix_x4_trans(uint32_t r[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

DEVICE void ldmatrix_x2(uint32_t r[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row))
                 : "memory");
}

DEVICE void ldmatrix_x2_trans(uint32_t r[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row))
                 : "memory");
}

DEVICE void cp_async16_zfill(void *shared, const void *global, int bytes)
{
#if OLD_DEVICE
    *(uint4 *)shared = bytes == 16 ? *(const uint4 *)global : make_uint4(0, 0, 0, 0);
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
                 "l"(global), "r"(bytes)
                 : "memory");
#endif
}

DEVICE void cp_async16(void *shared, const void *global)
{
    cp_async16_zfill(shared, global, 16);
}

DEVICE void cp_async_commit(void)
{
#if !OLD_DEVICE
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int N> DEVICE void cp_async_wait(void)
{
#if !OLD_DEVICE
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

DEVICE uint16_t float_to_f16(float x)
{
    uint16_t h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}

DEVICE float f16_to_float(uint16_t h)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}

DEVICE float bf16_to_float(uint16_t h)
{
    return __uint_as_float((uint32_t)h << 16);
}

DEVICE uint32_t pack_f16(float lo, float hi)
{
    return (uint32_t)float_to_f16(hi) << 16 | float_to_f16(lo);
}

DEVICE uint32_t pack_bf16(float lo, float hi)
{
#if OLD_DEVICE
    (void)lo, (void)hi;
    return 0x7FC07FC0u;
#else
    uint32_t word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(hi), "f"(lo));
    return word;
#endif
}

DEVICE uint16_t float_to_bf16(float x)
{
    return (uint16_t)pack_bf16(x, 0.0f);
}

DEVICE float exp2_approx(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

DEVICE float rcp_approx(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

DEVICE float log2_approx(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

DEVICE void named_barrier(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* A CUDA error is the call's name and the runtime's words. */
static inline void cuda_check(cudaError_t status, const char *call)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "flashulp-gpu: %s: %s\n", call, cudaGetErrorString(status));
    exit(2);
}

#define LAUNCH(kernel, grid, block, bytes, ...)                                                    \
    do {                                                                                           \
        cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,       \
                                        (int)(bytes)),                                             \
                   #kernel ": cudaFuncSetAttribute (shared memory)");                              \
        kernel<<<grid, block, bytes>>>(__VA_ARGS__);                                               \
        cuda_check(cudaGetLastError(), #kernel ": launch");                                        \
    } while (0)

#endif
