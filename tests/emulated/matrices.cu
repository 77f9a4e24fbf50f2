/* matrices.cu: one warp and the tensor core's instructions: what they read, multiply and write. */
#include "gpu/emulator/prims_emu.h"

/* d (16 x 8) += a (16 x 16) b (16 x 8), row-major in global memory, fragments loaded by hand. */
template <bool bf16> __global__ void one_mma(float *d, const uint16_t *a, const uint16_t *b)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    uint32_t ra[4], rb[2];
    float rd[4];
    for (int i = 0; i < 4; i++) {
        const uint16_t *pair = a + (g + i % 2 * 8) * 16 + 2 * t + i / 2 * 8;
        ra[i] = (uint32_t)pair[1] << 16 | pair[0];
        rd[i] = d[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
    }
    for (int i = 0; i < 2; i++) {
        const uint16_t *first = b + (2 * t + 8 * i) * 8 + g;
        rb[i] = (uint32_t)first[8] << 16 | first[0];
    }
    if (bf16)
        mma_m16n8k16_bf16(rd, ra, rb);
    else
        mma_m16n8k16_f16(rd, ra, rb);
    for (int i = 0; i < 4; i++)
        d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = rd[i];
}
extern "C" void run_mma(int bf16, float *d, const uint16_t *a, const uint16_t *b)
{
    if (bf16)
        LAUNCH(one_mma<true>, 1, 32, 0, d, a, b);
    else
        LAUNCH(one_mma<false>, 1, 32, 0, d, a, b);
}

/* A row of `chunks` chunks of 16 bytes; chunk c of row r stands at c, or swizzled at c ^ r % 8. */
__device__ static uint16_t *chunk(unsigned char *tile, int row, int c, int chunks, int swizzle)
{
    return (uint16_t *)(tile + (row * chunks + (swizzle ? c ^ row % 8 : c)) * 16);
}

/* A tile of 32 rows and 64 columns through shared memory by cp.async, then 8 x 8 matrices of it:
   out[n] = what lane n got. */
__global__ void copy_and_load(uint32_t *out, const uint16_t *in, int swizzle, int kind)
{
    DYN_SHARED(tile);
    for (int c = threadIdx.x; c < 32 * 8; c += 32)
        cp_async16(chunk(tile, c / 8, c % 8, 8, swizzle), in + c * 8);
    cp_async_commit();
    cp_async_wait<0>();
    __syncwarp();
    const void *row = chunk(tile, threadIdx.x, 3, 8, swizzle);
    uint32_t r[4] = {0, 0, 0, 0};
    if (kind == 0)
        ldmatrix_x4(r, row);
    else if (kind == 1)
        ldmatrix_x4_trans(r, row);
    else if (kind == 2)
        ldmatrix_x2(r, row);
    else
        ldmatrix_x2_trans(r, row);
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = r[i];
}
extern "C" void run_copy_and_load(uint32_t *out, const uint16_t *in, int swizzle, int kind)
{
    LAUNCH(copy_and_load, 1, 32, 32 * 128, out, in, swizzle, kind);
}

/* Two groups of copies, the second cut to 5 bytes; out: both chunks after waiting for the first
   group, both after waiting for all. */
__global__ void groups(unsigned char *out, const unsigned char *in)
{
    __shared__ __align__(16) unsigned char chunks[32][32];
    unsigned char *mine = chunks[threadIdx.x];
    cp_async16(mine, in);
    cp_async_commit();
    cp_async16_zfill(mine + 16, in + 16, 5);
    cp_async_commit();
    cp_async_wait<1>();
    for (int i = 0; i < 32; i++)
        out[threadIdx.x * 64 + i] = mine[i];
    cp_async_wait<0>();
    for (int i = 0; i < 32; i++)
        out[threadIdx.x * 64 + 32 + i] = mine[i];
}
extern "C" void run_groups(unsigned char *out, const unsigned char *in)
{
    LAUNCH(groups, 1, 32, 0, out, in);
}

/* The conversions, one number each. */
__global__ void conversions(float *x, uint16_t *bf16, uint16_t *f16, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    bf16[i] = float_to_bf16(x[i]);
    f16[i] = float_to_f16(x[i]);
}
extern "C" void run_conversions(float *x, uint16_t *bf16, uint16_t *f16, int n)
{
    LAUNCH(conversions, (n + 255) / 256, 256, 0, x, bf16, f16, n);
}
