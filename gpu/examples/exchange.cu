/* exchange.cu: two mistakes to look at: flashulp view lanes.trace --scene warps.

   Four warps share a tile's keys, as in splitk.cu, and add up what each has summed of every row.
   The sums lie so that four lanes of a warp meet in one bank; and a barrier is missing: a warp that
   gets on writes its next sums while others still read the last ones. */
#include "gpu/kernels/prims.h"

enum { WARPS = 4, ROWS = 32, KEYS = 6, TILES = 2 };

/* scores: TILES x KEYS x ROWS; sums: one for each row. */
static __global__ void exchange(const float *scores, float *sums)
{
    __shared__ volatile float part[ROWS][WARPS];
    int row = threadIdx.x & 31, warp = threadIdx.x / 32;
    float sum = 0.0f;
    for (int tile = 0; tile < TILES; tile++) {
        float own = 0.0f;
        for (int key = warp; key < KEYS; key += WARPS) /* warps 0 and 1 have two keys, 2 and 3 one */
            own = __fadd_rn(own, scores[(tile * KEYS + key) * ROWS + row]);
        part[row][warp] = own; /* rows 0, 8, 16, 24 are in one bank */
        __syncthreads();       /* all sums */
        for (int w = 0; w < WARPS; w++)
            sum = __fadd_rn(sum, part[row][w]);
        /* missing: __syncthreads(), all have read them */
    }
    if (warp == 0)
        sums[row] = sum;
}

extern "C" void run_exchange(const float *scores, float *sums)
{
    LAUNCH(exchange, 1, WARPS * 32, 0, scores, sums);
}
