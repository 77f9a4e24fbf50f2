/* bugs.cu: kernels with one mistake each.  A comment with the mistake's name in capitals stands on
   the line that the report must name. */
#include "gpu/emulator/prims_emu.h"

#define EVERYONE 0xFFFFFFFFu
/* What the undefined-behaviour sanitizer would stop before the emulator sees it. */
#define UNSANITIZED __attribute__((no_sanitize("undefined")))

__global__ void divergent_barrier(float *out)
{
    if (threadIdx.x < 32)
        __syncthreads(); /* DIVERGENT_BARRIER */
    else
        __syncthreads(); /* DIVERGENT_BARRIER_OTHER */
    out[threadIdx.x] = 1;
}

__global__ void half_warp_shuffle(float *out)
{
    float x = (float)threadIdx.x;
    if (threadIdx.x < 16)
        x = __shfl_xor_sync(EVERYONE, x, 1); /* HALF_WARP_SHUFFLE */
    __syncthreads(); /* HALF_WARP_SHUFFLE_OTHER */
    out[threadIdx.x] = x;
}

__global__ void half_warp_mma(float *out)
{
    uint32_t a[4] = {}, b[2] = {};
    float d[4] = {};
    if (threadIdx.x < 16)
        mma_m16n8k16_bf16(d, a, b); /* HALF_WARP_MMA */
    __syncwarp(); /* HALF_WARP_MMA_OTHER */
    out[threadIdx.x] = d[0];
}

__global__ void exited_lane(float *out)
{
    if (threadIdx.x == 7)
        return;
    out[threadIdx.x] = __shfl_down_sync(EVERYONE, (float)threadIdx.x, 1); /* EXITED_LANE */
}

__global__ void mask_without_caller(float *out)
{
    float x = (float)threadIdx.x;
    if (threadIdx.x < 16)
        x = __shfl_xor_sync(0x0000FFFEu, x, 2); /* MASK_WITHOUT_CALLER */
    out[threadIdx.x] = x;
}

__global__ void lane_outside_mask(float *out)
{
    float x = (float)threadIdx.x;
    if (threadIdx.x < 16)
        x = __shfl_sync(0x0000FFFFu, x, 20); /* LANE_OUTSIDE_MASK */
    out[threadIdx.x] = x;
}

__global__ void missing_syncwarp(float *out)
{
    __shared__ float x[32];
    x[threadIdx.x] = (float)threadIdx.x; /* MISSING_SYNCWARP_OTHER */
    out[threadIdx.x] = x[threadIdx.x ^ 1]; /* MISSING_SYNCWARP */
}

__global__ void missing_barrier(float *out)
{
    __shared__ float x[128];
    x[threadIdx.x] = 1;
    __syncthreads();
    for (unsigned by = 64; by > 0; by /= 2)
        if (threadIdx.x < by)
            x[threadIdx.x] += x[threadIdx.x + by]; /* MISSING_BARRIER */
    if (threadIdx.x == 0)
        *out = x[0];
}

/* Four words written at once, one of them read. */
__global__ void wide_write(float *out)
{
    __shared__ __align__(16) float x[128];
    if (threadIdx.x < 32)
        *(float4 *)(x + 4 * threadIdx.x) = make_float4(1, 2, 3, 4); /* WIDE_WRITE_OTHER */
    else
        out[threadIdx.x] = x[4 * (threadIdx.x - 32) + 2]; /* WIDE_WRITE */
}

/* One of four words written, all of them read: by the writer, which may, and by another warp. */
__global__ void narrow_write(float *out)
{
    __shared__ float4 x[32];
    float4 *all = (float4 *)out;
    if (threadIdx.x < 32)
        x[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    if (threadIdx.x < 32) {
        x[threadIdx.x].z = 5; /* NARROW_WRITE_OTHER */
        all[threadIdx.x] = x[threadIdx.x];
    } else {
        all[threadIdx.x] = x[threadIdx.x - 32]; /* NARROW_WRITE */
    }
}

__global__ void uninitialised(float *out)
{
    __shared__ float x[64];
    if (threadIdx.x != 5)
        x[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = x[threadIdx.x]; /* UNINITIALISED */
}

__global__ void uninitialised_global(float *out, const float *in)
{
    out[threadIdx.x] = in[threadIdx.x]; /* UNINITIALISED_GLOBAL */
}

__global__ void unwaited_copy(float *out, const float *in)
{
    __shared__ __align__(16) float x[128];
    cp_async16(x + 4 * threadIdx.x, in + 4 * threadIdx.x); /* UNWAITED_COPY */
    cp_async_commit();
    out[threadIdx.x] = 0;
}

__global__ void copy_in_flight(float *out, const float *in)
{
    __shared__ __align__(16) float x[128];
    cp_async16(x + 4 * threadIdx.x, in + 4 * threadIdx.x); /* COPY_IN_FLIGHT_OTHER */
    cp_async_commit();
    out[threadIdx.x] = x[4 * threadIdx.x]; /* COPY_IN_FLIGHT */
    cp_async_wait<0>();
}

/* The wait is there, the barrier after it is not. */
__global__ void copy_of_another(float *out, const float *in)
{
    __shared__ __align__(16) float x[256];
    cp_async16(x + 4 * threadIdx.x, in + 4 * threadIdx.x); /* COPY_OF_ANOTHER_OTHER */
    cp_async_commit();
    cp_async_wait<0>();
    out[threadIdx.x] = x[(4 * threadIdx.x + 128) % 256]; /* COPY_OF_ANOTHER */
}

__global__ void blocks_add(float *out)
{
    if (threadIdx.x == 0)
        *out += 1; /* BLOCKS_ADD */
}

__global__ void beyond_shared(float *out)
{
    DYN_SHARED(raw);
    float *x = (float *)raw;
    x[threadIdx.x] = 1;
    if (threadIdx.x == 3)
        x[4096] = 1; /* BEYOND_SHARED */
    out[threadIdx.x] = x[threadIdx.x];
}

__global__ void just_beyond_shared(float *out)
{
    DYN_SHARED(raw);
    float *x = (float *)raw;
    x[threadIdx.x] = 1; /* JUST_BEYOND_SHARED */
    out[threadIdx.x] = 1;
}

__global__ void beyond_global(float *out)
{
    out[threadIdx.x * 100000] = 1; /* BEYOND_GLOBAL */
}

__global__ UNSANITIZED void null_pointer(float *out)
{
    float *nothing = out - (size_t)out / sizeof(float);
    nothing[threadIdx.x] = 1; /* NULL_POINTER */
}

__device__ __attribute__((noinline)) static float
deeper(float *out, int depth) /* STACK_OVERFLOW_OTHER */
{
    volatile float room[1024];
    room[threadIdx.x] = (float)depth; /* STACK_OVERFLOW */
    return depth == 0 ? room[threadIdx.x] : deeper(out, depth - 1) + room[threadIdx.x];
}
__global__ void stack_overflow(float *out)
{
    out[threadIdx.x] = deeper(out, 1000);
}

__global__ UNSANITIZED void misaligned_access(uint4 *out, const float *in)
{
    *out = *(const uint4 *)(in + 1); /* MISALIGNED_ACCESS */
}

__global__ void misaligned_ldmatrix(uint32_t *out)
{
    __shared__ __align__(16) unsigned char x[1024];
    for (int i = 0; i < 32; i++)
        x[32 * threadIdx.x + i] = 0;
    __syncwarp();
    uint32_t r[4];
    ldmatrix_x4(r, x + 20 * threadIdx.x); /* MISALIGNED_LDMATRIX */
    out[threadIdx.x] = r[0];
}

__global__ void copy_from_host(float *out, const float *in)
{
    __shared__ __align__(16) float x[128];
    cp_async16(x + 4 * threadIdx.x, in); /* COPY_FROM_HOST */
    cp_async_commit();
    cp_async_wait<0>();
    out[threadIdx.x] = 0;
}

/* Nobody sets the flag. */
__global__ void spin(int *flag)
{
    while (atomicCAS(flag, 1, 0) != 1) /* SPIN */
        ;
}

__global__ void endless(volatile int *flag)
{
    while (*flag == 0) /* ENDLESS */
        ;
}

__global__ void named_barrier_short(float *out)
{
    if (threadIdx.x < 32)
        named_barrier(1, 64); /* NAMED_BARRIER_SHORT */
    out[threadIdx.x] = 1;
}

__global__ void named_barrier_odd(float *out)
{
    named_barrier(1, 40); /* NAMED_BARRIER_ODD */
    out[threadIdx.x] = 1;
}

__global__ UNSANITIZED void division(int *out)
{
    *out = *out / (int)(threadIdx.x & 64); /* DIVISION */
}

/* Launches the bug of that name; false: there is none.  out: 1 KiB of zeros; in: 4 KiB of zeros. */
extern "C" bool run_bug(const char *name, void *out, void *in, const float *host)
{
    float *y = (float *)out, *x = (float *)in;
#define BUG(kernel, grid, block, shared, ...)                                                      \
    if (strcmp(name, #kernel) == 0) {                                                              \
        LAUNCH(kernel, grid, block, shared, __VA_ARGS__);                                          \
        return true;                                                                               \
    }
    BUG(divergent_barrier, 1, 64, 0, y)
    BUG(half_warp_shuffle, 1, 64, 0, y)
    BUG(half_warp_mma, 1, 32, 0, y)
    BUG(exited_lane, 1, 32, 0, y)
    BUG(mask_without_caller, 1, 32, 0, y)
    BUG(lane_outside_mask, 1, 32, 0, y)
    BUG(missing_syncwarp, 1, 32, 0, y)
    BUG(missing_barrier, 1, 128, 0, y)
    BUG(wide_write, 1, 64, 0, y)
    BUG(narrow_write, 1, 64, 0, y)
    BUG(uninitialised, 1, 64, 0, y)
    BUG(uninitialised_global, 1, 32, 0, y, (const float *)dev_alloc(128))
    BUG(unwaited_copy, 1, 32, 0, y, x)
    BUG(copy_in_flight, 1, 32, 0, y, x)
    BUG(copy_of_another, 1, 64, 0, y, x)
    BUG(blocks_add, 4, 32, 0, y)
    BUG(beyond_shared, 1, 32, 128, y)
    BUG(just_beyond_shared, 1, 32, 100, y)
    BUG(beyond_global, 1, 32, 0, y)
    BUG(null_pointer, 1, 32, 0, y)
    BUG(stack_overflow, 1, 32, 0, y)
    BUG(misaligned_access, 1, 1, 0, (uint4 *)out, x)
    BUG(misaligned_ldmatrix, 1, 32, 0, (uint32_t *)out)
    BUG(copy_from_host, 1, 32, 0, y, host)
    BUG(spin, 1, 64, 0, (int *)out)
    BUG(endless, 1, 64, 0, (volatile int *)out)
    BUG(named_barrier_short, 1, 64, 0, y)
    BUG(named_barrier_odd, 1, 64, 0, y)
    BUG(division, 1, 32, 0, (int *)out)
#undef BUG
    return false;
}

/* clang copies a structure by memcpy, and says nothing of its alignment. */
extern "C" bool alignment_is_seen(void)
{
#ifdef __clang__
    return false;
#else
    return true;
#endif
}

extern "C" void run_shape(unsigned grid, unsigned block, unsigned shared, float *out)
{
    LAUNCH(blocks_add, grid, block, shared, out);
}
