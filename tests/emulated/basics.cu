/* basics.cu: small correct kernels: what is right must run, and stay silent. */
#include "gpu/emulator/prims_emu.h"

__global__ void scale(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __fmul_rn(a, x[i]);
}
extern "C" void run_scale(float *y, const float *x, float a, int n)
{
    LAUNCH(scale, (n + 63) / 64, 64, 0, y, x, a, n);
}

/* Static and dynamic shared memory, a butterfly, a barrier. */
__global__ void block_sum(float *total, const float *x)
{
    __shared__ float part[8];
    DYN_SHARED(raw);
    float *mine = (float *)raw;
    mine[threadIdx.x] = x[threadIdx.x];
    float sum = mine[threadIdx.x];
    for (int by = 16; by > 0; by /= 2)
        sum = __fadd_rn(sum, __shfl_xor_sync(0xFFFFFFFFu, sum, by));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        for (unsigned w = 0; w < blockDim.x / 32; w++)
            *total = __fadd_rn(*total, part[w]);
}
extern "C" void run_block_sum(float *total, const float *x, int n)
{
    LAUNCH(block_sum, 1, n, n * sizeof(float), total, x);
}
