/* answer.cu: lab 20, two reductions in shared memory, a barrier between every write and read. */
#include "lab.cuh"

enum { THREADS = 64 };

__global__ void softmax_rows(struct state *s)
{
    __shared__ float part[THREADS];
    int r = blockIdx.x, t = threadIdx.x;
    float top = -INFINITY, sum = 0;
    for (int c = t; c < s->keys; c += THREADS)
        top = fmaxf(top, s->S[r][c]);
    part[t] = top;
    __syncthreads();
    for (int by = THREADS / 2; by > 0; by /= 2) {
        if (t < by)
            part[t] = fmaxf(part[t], part[t + by]);
        __syncthreads();
    }
    float m = part[0];
    __syncthreads();
    for (int c = t; c < s->keys; c += THREADS)
        sum += expf(s->S[r][c] - m);
    part[t] = sum;
    __syncthreads();
    for (int by = THREADS / 2; by > 0; by /= 2) {
        if (t < by)
            part[t] += part[t + by];
        __syncthreads();
    }
    float l = part[0];
    for (int c = t; c < s->keys; c += THREADS)
        s->P[r][c] = expf(s->S[r][c] - m) / l;
    if (t == 0) {
        s->m[r] = m;
        s->l[r] = l;
    }
}
