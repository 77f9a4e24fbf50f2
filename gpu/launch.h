/* launch.h: one of our kernels on one problem, and its pair in the simulator. */
#ifndef FLASHULP_GPU_LAUNCH_H
#define FLASHULP_GPU_LAUNCH_H

#include "gpu/target.h"
#include "simulator/scenario.h"

enum gpu_kernel {
#define GPU_KERNEL(id, ...) GPU_##id,
#include "gpu/kernels.def"
#undef GPU_KERNEL
    GPU_KERNELS
};

enum gpu_flag { GPU_TENSOR = 1, GPU_DECODES = 2, GPU_BACKWARD = 4, GPU_ATOMIC = 8 };

struct gpu_kernel_info {
    const char *name, *files, *pair, *meaning;
    unsigned flags;
};
const struct gpu_kernel_info *gpu_kernel_info(enum gpu_kernel k);
/* Can it run on the target: at head size D, with bf16 or fp16?  A sentence if not. */
bool gpu_fits(enum gpu_kernel k, int64_t D, bool half, struct message *why);
bool gpu_kernel_from_name(const char *name, enum gpu_kernel *k, struct message *why);

/* A problem, and the pair that a kernel is compared with: the words of both as a scenario. */
struct gpu_pair {
    enum gpu_kernel kernel;
    const char *unit; /* the tensor core that sums, "sm90"; NULL: fp32 chains */
    const char *planted; /* "keys", "queries" or NULL: where NaN and infinities were put */
    struct scenario scenario;
    struct scenario_input input;
    struct simulation simulation;
    struct tensor dO; /* backward */
    bool made;
};
/* `words`: a problem, and run's options; the pair's own are added.  "--plant keys" puts NaN and
   infinities into the last two keys, "--plant queries" into the first two queries and their dO: with
   --causal most of the other side does not see them.  Refused, too, when the kernel does not take
   the problem. */
bool gpu_pair_new(struct gpu_pair *p, enum gpu_kernel k, const char *unit, int count,
                  const char *const *words, struct message *why);
void gpu_pair_free(struct gpu_pair *p);

/* What a kernel, or its pair, leaves: 16-bit words in the inputs' format and fp32 words, NaN
   canonical; (B, Hq, Nq, D), (B, Hq, Nq), and with backward dQ, dK, dV as q, k, v lie. */
struct gpu_output {
    int64_t elements, rows, keys; /* of O and dQ, of LSE, of dK and dV */
    uint16_t *O, *dQ, *dK, *dV;
    uint32_t *lse;
    double seconds; /* of the launches and the waiting */
};
bool gpu_run_kernel(const struct gpu_pair *p, const struct target_settings *t, struct gpu_output *o,
                    struct message *why);
/* dQ of atomic adds in the order of blocks that the emulator takes with t; ascending for a GPU, which
   has its own. */
bool gpu_run_pair(const struct gpu_pair *p, const struct target_settings *t, struct gpu_output *o,
                  struct message *why);
/* Is dQ left out of a comparison, because nobody knows the order in which it was added up? */
bool gpu_order_unknown(const struct gpu_pair *p);
void gpu_output_free(struct gpu_output *o);
/* FNV-1a-64 as `flashulp run` prints it: O and LSE; with gradients, of dQ, dK, dV. */
uint64_t gpu_digest(const struct gpu_pair *p, const struct gpu_output *o);

/* The largest |error| against the certified result, in a few rows and columns of every head, as a
   share of the proved bound: of O for any kernel with 16-bit weights, and of dQ, dK and dV.  Above
   1: outside. */
double gpu_certified_outputs(const struct gpu_pair *p, const struct gpu_output *o);
double gpu_certified_gradients(const struct gpu_pair *p, const struct gpu_output *o);

/* How many numbers differ (dQ apart, where its order is unknown), and where the first: "O[0,1,3,17] 0x3F81, want 0x3F80". */
struct gpu_difference {
    int64_t count;
    char first[128];
};
struct gpu_difference gpu_compare(const struct gpu_pair *p, const struct gpu_output *got,
                                  const struct gpu_output *want);

#endif
