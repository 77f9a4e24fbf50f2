/* probe.cu: what the hardware computes where no source says: one tensor-core instruction on given
   operands, the approximate functions over ranges of inputs; and how fast mma.sync can go when it
   does nothing else. */
#include "tiles.h"

/* Row n of (count x 16) times row n of b, plus c[n]: a warp an instruction. */
template <int HALF>
static __global__ void __launch_bounds__(32) mma_probe(struct probe_args p)
{
    int64_t n = blockIdx.x;
    int lane = threadIdx.x, g = lane / 4, t = lane & 3;
    float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    uint32_t a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
    if (g == 0) { /* row 0 of A, column 0 of B, of D */
        const uint32_t *A = (const uint32_t *)(p.a + 16 * n), *B = (const uint32_t *)(p.b + 16 * n);
        a[0] = A[t];
        a[2] = A[t + 4];
        b[0] = B[t];
        b[1] = B[t + 4];
        d[0] = t == 0 ? p.c[n] : 0.0f;
    }
    mma<HALF>(d, a, b);
    if (lane == 0)
        p.d[n] = d[0];
}

/* y[i] = f(the float whose bits are first + i). */
static __global__ void __launch_bounds__(256) function_probe(struct probe_args p)
{
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    float x = poly_float(p.first + (uint32_t)i);
    if (i >= p.count)
        return;
    p.d[i] = p.function == PROBE_EX2   ? exp2_approx(x)
             : p.function == PROBE_LG2 ? log2_approx(x)
                                       : rcp_approx(x);
}

/* 64 independent accumulators' worth of products, again and again, out of registers. */
static __global__ void __launch_bounds__(128) mma_peak(int times, float *out)
{
    float d[8][4] = {};
    uint32_t a[4] = {threadIdx.x, threadIdx.x, threadIdx.x, threadIdx.x},
             b[2] = {threadIdx.x, threadIdx.x};
    for (int i = 0; i < times; i++)
#pragma unroll
        for (int n = 0; n < 8; n++)
            mma<1>(d[n], a, b);
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < 8; n++)
        sum = __fadd_rn(sum, d[n][0]);
    if (sum == -1.0f) /* never: but then the products are needed */
        *out = sum;
}

extern "C" void gpu_mma_probe(struct probe_args p)
{
    void (*probe)(struct probe_args) = p.half ? mma_probe<1> : mma_probe<0>;
    LAUNCH(probe, (unsigned)p.count, 32, 0, p);
}

extern "C" void gpu_function_probe(struct probe_args p)
{
    LAUNCH(function_probe, (unsigned)((p.count + 255) / 256), 256, 0, p);
}

extern "C" double gpu_mma_peak(int blocks, int times, float *out)
{
    LAUNCH(mma_peak, blocks, 128, 0, times, out);
    return 2.0 * 16 * 8 * 16 * 8 * times * (128 / 32) * blocks; /* FLOPs */
}
