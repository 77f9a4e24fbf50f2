/* tiling.c: shared memory, registers, occupancy; the tiles that ship. */
#include "simulator/tiling.h"

#include "simulator/kernels/fa2.h"

enum { ELEMENT = 2, FLOAT = 4, KB = 1024, REGISTER_STEP = 8, WARP_REGISTER_STEP = 256 };

static int64_t ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Q, K and V; backward: Q in two buffers, dO, K, V, P, dS (kSmemSize1colblock).  FA1's is not
   established: here the least it needs, K and V in turn, Q and the warps' partial O. */
static int64_t shared_bytes(enum plan_kernel k, struct tiling t, int64_t d)
{
    int64_t Br = t.Br, Bc = t.Bc;
    if (k == PLAN_KERNEL_BACKWARD)
        return ELEMENT * (3 * Br * d + 2 * Bc * d + 2 * Br * Bc);
    if (k == PLAN_KERNEL_FA1)
        return ELEMENT * (Br * d + Bc * d) + FLOAT * t.warps * Br * d;
    return ELEMENT * (Br * d + 2 * Bc * d);
}

/* fp32 values a block keeps in registers at once.  Forward: O and S.  Backward: dK and dV, with S
   and dP, later with this step's dQ.  FA1: each warp a partial O of all rows, and its part of S. */
static int64_t accumulators(enum plan_kernel k, struct tiling t, int64_t d)
{
    int64_t Br = t.Br, Bc = t.Bc;
    if (k == PLAN_KERNEL_BACKWARD)
        return 2 * Bc * d + larger(2 * Br * Bc, Br * d);
    if (k == PLAN_KERNEL_FA1)
        return t.warps * Br * d + Br * Bc;
    return Br * d + Br * Bc;
}

struct tile_needs tile_needs(enum plan_kernel k, struct tiling t, int64_t dim)
{
    int threads = t.warps * THREADS_PER_WARP;
    return (struct tile_needs){shared_bytes(k, t, dim), ceiling(accumulators(k, t, dim), threads),
                               threads};
}

const char *occupancy_limit_name(enum occupancy_limit l)
{
    static const char *const names[] = {"shared memory", "registers", "threads", "blocks"};
    return names[l];
}

static int capped(int64_t x, int most)
{
    return x < most ? (int)x : most;
}

/* From compute capability 8.0 on every resident block takes a KB of shared memory beside its own:
   by so much a block's limit lies below the SM's. */
static void fill_allowed(struct occupancy *o, const struct architecture_info *a)
{
    int64_t reserved = (int64_t)(a->shared_per_sm - a->shared_per_block) * KB;
    int64_t warp =
        ceiling((int64_t)o->registers * THREADS_PER_WARP, WARP_REGISTER_STEP) * WARP_REGISTER_STEP;
    int warps = o->needs.threads / THREADS_PER_WARP;
    o->allowed[LIMIT_SHARED] = (int)((int64_t)a->shared_per_sm * KB / (o->needs.shared + reserved));
    o->allowed[LIMIT_REGISTERS] = (int)(REGISTERS_PER_SM / (warp * warps));
    o->allowed[LIMIT_THREADS] = a->threads_per_sm / o->needs.threads;
    o->allowed[LIMIT_BLOCKS] = a->blocks_per_sm;
}

struct occupancy occupancy(enum architecture a, enum plan_kernel k, struct tiling t, int64_t dim,
                           int others)
{
    enum { MOST_THREADS = 1024 };
    const struct architecture_info *info = architecture_info(a);
    struct occupancy o = {.needs = tile_needs(k, t, dim)};
    int64_t wanted = ceiling(o.needs.accumulators + others, REGISTER_STEP) * REGISTER_STEP;
    o.registers = capped(wanted, REGISTERS_PER_THREAD + 1);
    fill_allowed(&o, info);
    for (int l = 0; l < LIMIT_COUNT; l++)
        if (l == 0 || o.allowed[l] < o.per_sm) {
            o.per_sm = o.allowed[l];
            o.limit = (enum occupancy_limit)l;
        }
    if (o.needs.shared > (int64_t)info->shared_per_block * KB || o.needs.threads > MOST_THREADS) {
        o.verdict = TILE_NO_LAUNCH;
        o.per_sm = 0;
    } else if (o.needs.accumulators > REGISTERS_PER_THREAD) {
        o.verdict = TILE_SPILLS;
    } else if (o.needs.accumulators + others > REGISTERS_PER_THREAD) {
        o.verdict = TILE_MAY_SPILL;
    }
    return o;
}

int64_t compiled_dim(int64_t dim)
{
    static const int sizes[] = {32, 64, 96, 128, 192, 256};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        if (dim <= sizes[n])
            return sizes[n];
    return 0;
}

/* The models' own tables, asked about a head of that size. */
static struct tiling tile_of_model(kernel_tiles *tiles, const char *unit, int64_t dim,
                                   const struct attention_shape *shape)
{
    enum { MANY_ROWS = 1 << 20 };
    struct kernel_choice c = {.kernel = KERNEL_FA2_SPLIT, .unit = unit};
    struct problem p = {.B = 1, .Hq = 1, .Hkv = 1, .Nq = MANY_ROWS, .Nk = shape->len_k, .D = dim};
    struct tiling t = {.warps = 4};
    p.mask.left = p.mask.right = -1;
    tiles(&c, &p, &t.Br, &t.Bc);
    return t;
}

bool shipped_tile(enum plan_kernel k, enum architecture a, const struct attention_shape *shape,
                  struct tiling *t, struct message *why)
{
    const struct architecture_info *info = architecture_info(a);
    int64_t dim = compiled_dim(shape->dim);
    struct fa2_tile f;
    if (dim == 0)
        return refuse(why,
                      "head size %lld: the shipped kernels take at most 256; --tile Br,Bc "
                      "--warps N plans another one",
                      (long long)shape->dim);
    if (k == PLAN_KERNEL_FA1 && dim > 128)
        return refuse(why,
                      "head size %lld: FlashAttention-1 ships for at most 128; --tile Br,Bc "
                      "--warps N plans another one",
                      (long long)shape->dim);
    if (k != PLAN_KERNEL_FA1 && a == ARCHITECTURE_SM75)
        return refuse(why,
                      "FlashAttention-2 does not ship for %s; an Ampere device or later is "
                      "right, or --kernel fa1, or --tile Br,Bc",
                      info->name);
    if (k == PLAN_KERNEL_FA1) {
        *t = tile_of_model(fa1_tiles, info->name, dim, shape);
        return true;
    }
    if (k == PLAN_KERNEL_DECODE) {
        *t = tile_of_model(fa2_split_tiles, info->name, dim, shape);
        return true;
    }
    f = k == PLAN_KERNEL_FA2 ? fa2_shipped_tile(info->name, dim, shape->causal)
                             : fa2_backward_tile(info->shared_per_block, dim);
    *t = (struct tiling){f.Br, f.Bc, f.warps};
    return true;
}
