/* combine.cu: one output out of the records of a row's groups: the second half of split-KV
   decoding.

   What it does: a block owns one query head, a thread one column of the output; the groups'
   weights are made once, in shared memory.  Four ways to merge, as decode.def writes them.
   What changed from decode.cu: there are no keys any more: G records of one row, and no matrix
   product worth the name.
   What it costs: every record read once; its launch, the larger part of the time for short
   sequences. */
#include "tiles.h"

template <int HALF>
static __device__ __forceinline__ float record_out(const struct decode_args *d, int64_t at,
                                                   int column)
{
    int64_t n = at * d->a.D + column;
    return d->narrow ? unpack<HALF>(((const uint16_t *)d->part_o)[n])
                     : ((const float *)d->part_o)[n];
}

/* w_g = e^(height_g - m) for all; what each adds to l behind them. */
static __device__ void weigh_groups(float *weight, float *share, const struct decode_args *d,
                                    int64_t at, float m)
{
    for (int g = threadIdx.x; g < d->splits; g += blockDim.x) {
        weight[g] = exponential(__fsub_rn(d->part_m[at + g], shift_of(m)), d->a.hw);
        share[g] = d->merge == GPU_MERGE_LSE ? weight[g] : __fmul_rn(weight[g], d->part_l[at + g]);
    }
    __syncthreads();
}

/* sum w_g O_g, a group at a time. */
template <int HALF>
static __device__ float add_groups(const float *weight, const struct decode_args *d, int64_t at,
                                   int column)
{
    float O = 0.0f;
    for (int g = 0; g < d->splits; g++)                                 /* COMBINE */
        O = __fadd_rn(O, __fmul_rn(weight[g], record_out<HALF>(d, at + g, column)));
    return O;
}

/* m, l and O carried from group to group: the online softmax once more. */
template <int HALF>
static __device__ float merge_running(const struct decode_args *d, int64_t at, int column, float *m,
                                      float *l)
{
    float O = 0.0f;
    *m = -INFINITY;
    *l = 0.0f;
    for (int g = 0; g < d->splits; g++) {
        float m_g = d->part_m[at + g], m_old = *m;
        *m = fmaxf(m_old, m_g);
        float decay = exponential(__fsub_rn(m_old, shift_of(*m)), d->a.hw);
        float growth = exponential(__fsub_rn(m_g, shift_of(*m)), d->a.hw);
        *l = __fadd_rn(__fmul_rn(*l, decay), __fmul_rn(d->part_l[at + g], growth));
        O = __fadd_rn(__fmul_rn(O, decay), __fmul_rn(record_out<HALF>(d, at + g, column), growth));
    }
    return O;
}

template <int HALF>
static __global__ void __launch_bounds__(256) combine_kernel(struct decode_args d)
{
    DYN_SHARED(shared);
    float *weight = (float *)shared, *share = weight + d.splits, m = -INFINITY, l = 0.0f, O, L;
    int64_t head = (int64_t)blockIdx.y * d.a.heads_q + blockIdx.x, at = head * d.splits;
    int column = threadIdx.x;
    bool seen = d.a.keys > 0;
    if (d.merge == GPU_MERGE_RUNNING) {
        O = merge_running<HALF>(&d, at, column, &m, &l);
    } else {
        for (int g = 0; g < d.splits; g++)
            m = fmaxf(m, d.part_m[at + g]);
        weigh_groups(weight, share, &d, at, m);
        for (int g = 0; g < d.splits; g++)
            l = __fadd_rn(l, share[g]);
    }
    L = __fadd_rn(m, poly_log(l));
    if (d.merge == GPU_MERGE_LSE) { /* weights relative to L add up to 1: nothing is divided */
        __syncthreads(); /* all have summed */
        weigh_groups(weight, share, &d, at, L);
        O = add_groups<HALF>(weight, &d, at, column);
        O = l > 0.0f || l < 0.0f ? O : seen ? __fdiv_rn(l, l) : 0.0f;
    } else {
        if (d.merge != GPU_MERGE_RUNNING)
            O = add_groups<HALF>(d.merge == GPU_MERGE_MAX_SUM ? weight : share, &d, at, column);
        O = seen ? __fdiv_rn(O, l) : 0.0f;                              /* NORMALIZE */
    }
    if (column == 0)
        d.a.lse[head] = L;                                              /* LSE */
    d.a.o[head * d.a.D + column] = (uint16_t)pack<HALF>(O, 0.0f);       /* STORE */
}

extern "C" void gpu_combine(struct decode_args d)
{
    void (*combine)(struct decode_args) = d.a.half ? combine_kernel<1> : combine_kernel<0>;
    LAUNCH(combine, dim3(d.a.heads_q, d.a.batch), d.a.D, 2 * d.splits * 4, d);
}
