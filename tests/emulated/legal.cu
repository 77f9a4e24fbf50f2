/* legal.cu: kernels that do unusual things which are allowed: none may be reported. */
#include "gpu/emulator/prims_emu.h"

/* The halves of a warp meet by themselves, in different branches. */
__global__ void half_warps(float *out)
{
    float x = (float)threadIdx.x;
    if (threadIdx.x < 16)
        x += __shfl_xor_sync(0x0000FFFFu, x, 1);
    else
        x -= __shfl_xor_sync(0xFFFF0000u, x, 2);
    __syncwarp();
    out[threadIdx.x] = x;
}

/* Threads that are done do not keep the others at a barrier. */
__global__ void early_exit(float *out)
{
    __shared__ float sum;
    if (threadIdx.x >= 40)
        return;
    if (threadIdx.x == 0)
        sum = 7;
    __syncthreads();
    out[threadIdx.x] = sum;
}

/* One warp produces, the other consumes, by two named barriers. */
__global__ void pipeline(float *out)
{
    __shared__ float slot[32];
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x < 32) {
            slot[lane] = (float)(i + lane);
            named_barrier(1, 64);
            named_barrier(2, 64);
        } else {
            named_barrier(1, 64);
            out[lane] = slot[lane];
            named_barrier(2, 64);
        }
    }
}

__global__ void warp_exchange(float *out)
{
    __shared__ float x[64];
    x[threadIdx.x] = (float)threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = x[threadIdx.x ^ 1];
}

/* Copies of one warp, read by the other after a wait and a barrier. */
__global__ void staged(float *out)
{
    __shared__ __align__(16) float x[128];
    if (threadIdx.x < 32)
        cp_async16(x + 4 * threadIdx.x, out + 4 * threadIdx.x);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    if (threadIdx.x >= 32)
        for (int i = 0; i < 4; i++)
            out[4 * (threadIdx.x - 32) + i] = x[4 * (threadIdx.x - 32) + i] + 128;
}

/* Sixteen bytes written by one thread at once, then by four warps a word each, then read at once. */
__global__ void shared_sixteen(float *out)
{
    __shared__ __align__(16) float x[128];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp == 0)
        *(float4 *)(x + 4 * lane) = make_float4(9, 9, 9, 9);
    __syncthreads();
    x[4 * lane + warp] = (float)warp;
    __syncthreads();
    if (warp == 3)
        ((float4 *)out)[lane] = *(const float4 *)(x + 4 * lane);
}

/* Two barriers on one line, the second reached by a loop as often by each thread. */
__global__ void tree(float *out)
{
    __shared__ float x[128];
    x[threadIdx.x] = 1;
    for (unsigned by = 64; by > 0; by /= 2) {
        __syncthreads();
        if (threadIdx.x < by)
            x[threadIdx.x] += x[threadIdx.x + by];
    }
    __syncthreads(); __syncthreads();
    out[threadIdx.x] = x[0];
}

/* Blocks add up in the order in which they come: floats show it. */
__global__ void blocks_add_atomically(float *out)
{
    if (threadIdx.x == 0)
        atomicAdd(out, 1.0f / (float)(1 + blockIdx.x));
    else if (threadIdx.x < 9)
        atomicAdd(out + 1, 1.0f / (float)(1 + threadIdx.x * threadIdx.x));
}

/* The last block to come sums up what all left. */
__global__ void last_block(float *out, int *ticket)
{
    __shared__ int last;
    if (threadIdx.x == 0)
        last = atomicAdd(ticket, 1) == (int)gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0)
        *out = (float)*ticket;
}

__global__ void votes(float *out)
{
    int odd = threadIdx.x % 2;
    unsigned set = __ballot_sync(0xFFFFFFFFu, odd);
    int right = set == 0xAAAAAAAAu && __any_sync(0xFFFFFFFFu, odd) && !__all_sync(0xFFFFFFFFu, odd);
    float up = __shfl_up_sync(0xFFFFFFFFu, (float)threadIdx.x, 2);
    float segment = __shfl_sync(0xFFFFFFFFu, (float)threadIdx.x, 1, 8);
    out[threadIdx.x] = right ? up + 100 * segment : -1;
}

/* A lock, taken by compare-and-swap: the one who has it must get on. */
__global__ void lock(float *out, int *taken)
{
    if (threadIdx.x % 32 != 0)
        return;
    while (atomicCAS(taken, 0, 1) != 0)
        ;
    atomicAdd(out, 1.0f);
    atomicExch(taken, 0);
}

/* Rows of 33 and of 32 words, read by columns; global memory with a stride. */
__global__ void columns(float *out, const float *in, int words, int stride)
{
    DYN_SHARED(raw);
    float *x = (float *)raw;
    for (int i = 0; i < 32; i++)
        x[i * words + threadIdx.x] = 1;
    __syncwarp();
    float sum = 0;
    for (int i = 0; i < 32; i++)
        sum += x[threadIdx.x * words + i];
    out[threadIdx.x] = sum + in[threadIdx.x * stride];
}

extern "C" bool run_legal(const char *name, float *out, int *word)
{
#define LEGAL(kernel, grid, block, ...)                                                            \
    if (strcmp(name, #kernel) == 0) {                                                              \
        LAUNCH(kernel, grid, block, 0, __VA_ARGS__);                                               \
        return true;                                                                               \
    }
    LEGAL(half_warps, 1, 32, out)
    LEGAL(early_exit, 1, 64, out)
    LEGAL(pipeline, 1, 64, out)
    LEGAL(warp_exchange, 1, 64, out)
    LEGAL(staged, 1, 64, out)
    LEGAL(shared_sixteen, 1, 128, out)
    LEGAL(tree, 1, 128, out)
    LEGAL(blocks_add_atomically, 16, 32, out)
    LEGAL(last_block, 7, 32, out, word)
    LEGAL(votes, 1, 32, out)
    LEGAL(lock, 1, 256, out, word)
#undef LEGAL
    return false;
}

extern "C" void run_columns(float *out, const float *in, int words, int stride)
{
    LAUNCH(columns, 1, 32, 32 * 33 * 4, out, in, words, stride);
}
