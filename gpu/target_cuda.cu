/* target_cuda.cu: kernels on a GPU, through CUDA's runtime; the host side only. */
#include "gpu/kernels/prims_ptx.h"
#include "gpu/target.h"

const struct kernel_entries *target_kernels(bool)
{
    static const struct kernel_entries kernels = KERNEL_ENTRIES(gpu_);
    return &kernels;
}

bool target_is_emulator(void)
{
    return false;
}

static const cudaDeviceProp *properties(void)
{
    static cudaDeviceProp p;
    static bool known;
    if (!known)
        cuda_check(cudaGetDeviceProperties(&p, 0), "cudaGetDeviceProperties");
    known = true;
    return &p;
}

bool target_here(struct message *why)
{
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess)
        return refuse(why, "cudaGetDeviceCount: %s", cudaGetErrorString(status));
    return count > 0 || refuse(why, "cudaGetDeviceCount: there is no GPU");
}

const char *target_name(void)
{
    static char text[160];
    struct message why;
    int driver = 0, runtime = 0;
    if (!target_here(&why))
        return "a GPU, of which there is none here";
    const cudaDeviceProp *p = properties();
    cuda_check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    cuda_check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    snprintf(text, sizeof text, "%.60s, sm_%d%d, %d SMs, driver %d.%d, runtime %d.%d", p->name,
             p->major, p->minor, p->multiProcessorCount, driver / 1000, driver % 1000 / 10,
             runtime / 1000, runtime % 1000 / 10);
    return text;
}

const char *target_unit(void)
{
    static char text[16];
    const cudaDeviceProp *p = properties();
    snprintf(text, sizeof text, "sm%d%d", p->major, p->minor);
    return text;
}

int target_shared_bytes(void)
{
    return (int)properties()->sharedMemPerBlockOptin;
}

bool target_configure(const struct target_settings *s, struct message *why)
{
    return s->schedule == SCHEDULE_PLAIN ||
           refuse(why, "--schedule %s is the emulator's; a GPU has its own",
                  schedule_name(s->schedule));
}

bool target_block_order(uint64_t blocks, uint64_t *number)
{
    (void)blocks, (void)number;
    return false;
}

bool target_finish(struct message *why)
{
    cudaError_t status = cudaDeviceSynchronize();
    return status == cudaSuccess ||
           refuse(why, "cudaDeviceSynchronize: %s", cudaGetErrorString(status));
}

extern "C" void *dev_alloc(size_t bytes)
{
    void *p = NULL;
    cuda_check(cudaMalloc(&p, bytes > 0 ? bytes : 1), "cudaMalloc");
    return p;
}

extern "C" void dev_copy_in(void *to, const void *from, size_t bytes)
{
    cuda_check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the device");
}

extern "C" void dev_copy_out(void *to, const void *from, size_t bytes)
{
    cuda_check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy from the device");
}

extern "C" void dev_free(void *p)
{
    cuda_check(cudaFree(p), "cudaFree");
}

void target_count(struct target_counters *c)
{
    memset(c, 0, sizeof *c);
}

bool target_lanes(struct trace *t)
{
    (void)t;
    return false;
}
