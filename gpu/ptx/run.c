/* run.c: blocks one after another, their warps in turn, of a warp always the lanes that are furthest
   behind: lanes that parted meet again where their ways join.  A warp runs until its lanes have
   returned or wait at a barrier. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ptx/parts.h"

enum { MOST_THREADS = 1024, MOST_SHARED = 227 * 1024 };
static const uint64_t most_executed = UINT64_C(1) << 26; /* warp instructions of a block */

void ptx_fail(struct ptx_block *b, const struct ptx_warp *w, int lane, const char *what)
{
    if (!b->failed)
        refuse(b->why, "%s:%d: %s in block (%u,%u,%u), warp %d, lane %d: %s",
               b->launch->kernel->path, b->now->line, b->now->name, b->at[0], b->at[1], b->at[2],
               w->number, lane, what);
    b->failed = true;
}

static uint64_t special(const struct ptx_block *b, const struct ptx_warp *w, int lane,
                        enum ptx_special which)
{
    const unsigned *size = b->launch->block;
    unsigned thread = (unsigned)(w->number * PTX_LANES + lane);
    const unsigned own[] = {thread % size[0], thread / size[0] % size[1],
                            thread / size[0] / size[1]};
    switch (which / 3) {
    case 0:
        return own[which % 3];
    case 1:
        return size[which % 3];
    case 2:
        return b->at[which % 3];
    default:
        return b->launch->grid[which % 3];
    }
}

static void pure(struct ptx_warp *w, const struct ptx_instruction *i, uint32_t active)
{
    const uint64_t *sources[4] = {NULL};
    for (int n = 1; n < i->operands; n++)
        sources[n - 1] = w->reg[i->operand[n].reg];
    i->function(w->reg[i->operand[0].reg], sources, active);
}

static void unpack(struct ptx_block *b, struct ptx_warp *w, int lane)
{
    const struct ptx_operand *o = b->now->operand;
    uint64_t word = ptx_value(w, lane, &o[2]);
    w->reg[o[0].reg][lane] = word & 0xFFFF;
    w->reg[o[1].reg][lane] = word >> 16 & 0xFFFF;
}

static void each_lane(struct ptx_block *b, struct ptx_warp *w, uint32_t active,
                      void (*act)(struct ptx_block *, struct ptx_warp *, int))
{
    for (uint32_t left = active; left != 0 && !b->failed; left &= left - 1)
        act(b, w, __builtin_ctz(left));
}

static void commit(struct ptx_block *b, struct ptx_warp *w, int lane)
{
    (void)b;
    ptx_copy_commit(w, lane);
}

/* Everything but control. */
static void perform(struct ptx_block *b, struct ptx_warp *w, uint32_t active)
{
    switch (b->now->kind) {
    case PTX_PURE:
        pure(w, b->now, active);
        break;
    case PTX_UNPACK:
        each_lane(b, w, active, unpack);
        break;
    case PTX_LOAD:
        each_lane(b, w, active, ptx_load);
        break;
    case PTX_STORE:
        each_lane(b, w, active, ptx_store);
        break;
    case PTX_ATOMIC_ADD:
        each_lane(b, w, active, ptx_atomic_add);
        break;
    case PTX_VOTE_ANY:
        ptx_vote_any(b, w, active);
        break;
    case PTX_SHUFFLE:
        ptx_shuffle(b, w, active);
        break;
    case PTX_MMA:
        ptx_mma(b, w, active);
        break;
    case PTX_LDMATRIX:
        ptx_ldmatrix(b, w, active);
        break;
    case PTX_COPY:
        each_lane(b, w, active, ptx_copy);
        break;
    case PTX_COPY_COMMIT:
        each_lane(b, w, active, commit);
        break;
    case PTX_COPY_WAIT:
        each_lane(b, w, active, ptx_copy_wait);
        break;
    case PTX_TRAP:
        if (active != 0)
            ptx_fail(b, w, __builtin_ctz(active), "the kernel gives up");
        break;
    default: /* bar.warp.sync: lanes of a warp run in step */
        break;
    }
}

static uint32_t guarded(const struct ptx_block *b, const struct ptx_warp *w, uint32_t lanes)
{
    if (b->now->guard < 0)
        return lanes;
    uint32_t active = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        int lane = __builtin_ctz(left);
        bool is = (w->reg[b->now->guard][lane] & 1) != 0;
        if (is != b->now->guard_negated)
            active |= UINT32_C(1) << lane;
    }
    return active;
}

/* The lanes furthest behind, and where the next ones stand. */
static uint32_t behind(const struct ptx_warp *w, int *at, int *next)
{
    uint32_t lanes = 0;
    *at = *next = INT32_MAX;
    for (uint32_t left = w->alive & ~w->waiting & ~w->parked; left != 0; left &= left - 1) {
        int lane = __builtin_ctz(left), pc = w->pc[lane];
        if (pc < *at) {
            *next = *at;
            *at = pc;
            lanes = 0;
        } else if (pc > *at && pc < *next) {
            *next = pc;
        }
        lanes |= pc == *at ? UINT32_C(1) << lane : 0;
    }
    return lanes;
}

static void move(struct ptx_warp *w, uint32_t lanes, int to)
{
    for (uint32_t left = lanes; left != 0; left &= left - 1)
        w->pc[__builtin_ctz(left)] = to;
}

/* The lanes that an instruction of the whole warp, or of those it names, is made by. */
static uint32_t members(const struct ptx_warp *w, const struct ptx_instruction *i, int lane)
{
    switch (i->kind) {
    case PTX_SHUFFLE:
        return (uint32_t)w->reg[i->operand[5].reg][lane];
    case PTX_VOTE_ANY:
        return (uint32_t)w->reg[i->operand[2].reg][lane];
    case PTX_SYNCWARP:
        return (uint32_t)w->reg[i->operand[0].reg][lane];
    case PTX_MMA:
    case PTX_LDMATRIX:
        return UINT32_MAX;
    default:
        return 0;
    }
}

/* Have all come whom the instruction at `at` needs?  If not, those who have wait for the others. */
static bool together(struct ptx_block *b, struct ptx_warp *w, uint32_t *lanes, int at)
{
    int first = __builtin_ctz(*lanes);
    uint32_t needed = members(w, b->now, first) & w->alive;
    if (needed != 0 && (needed >> first & 1) == 0)
        ptx_fail(b, w, first, "its members omit the lane itself");
    if (needed != 0 && (*lanes & ~needed) != 0) { /* they name others, and are not in step */
        move(w, *lanes & ~needed, at);
        *lanes &= needed;
    }
    for (uint32_t left = needed & w->parked; left != 0; left &= left - 1)
        if (w->pc[__builtin_ctz(left)] == at)
            *lanes |= left & -left;
    w->parked &= ~*lanes;
    if ((needed & ~*lanes) == 0)
        return true;
    w->parked |= *lanes;
    move(w, *lanes, at);
    return false;
}

/* The lanes at `at` go on until their ways part, or they meet the next ones. */
static void run_lanes(struct ptx_block *b, struct ptx_warp *w, uint32_t lanes, int at, int next)
{
    while (at < next && !b->failed) {
        b->now = &b->launch->kernel->code[at];
        if (!together(b, w, &lanes, at))
            return;
        uint32_t active = guarded(b, w, lanes);
        if (++b->executed > most_executed)
            ptx_fail(b, w, __builtin_ctz(lanes), "the block does not come to an end");
        if (b->now->kind == PTX_BRANCH && active == lanes) {
            at = b->now->target;
        } else if (b->now->kind == PTX_BRANCH && active != 0) {
            move(w, active, b->now->target);
            move(w, lanes & ~active, at + 1);
            return;
        } else if (b->now->kind == PTX_RETURN || b->now->kind == PTX_BARRIER) {
            move(w, lanes, at + 1);
            if (b->now->kind == PTX_BARRIER && w->reg[b->now->operand[0].reg][0] != 0)
                ptx_fail(b, w, __builtin_ctz(lanes), "barrier 0 is the only one known here");
            if (b->now->kind == PTX_RETURN)
                w->alive &= ~active;
            else
                w->waiting |= active;
            return;
        } else {
            perform(b, w, active);
            at++;
        }
    }
    move(w, lanes, at);
}

static void run_warp(struct ptx_block *b, struct ptx_warp *w)
{
    int at, next;
    while ((w->alive & ~w->waiting & ~w->parked) != 0 && !b->failed) {
        uint32_t lanes = behind(w, &at, &next);
        run_lanes(b, w, lanes, at, next);
    }
    if (w->parked == 0 || b->failed)
        return;
    int lane = __builtin_ctz(w->parked);
    b->now = &b->launch->kernel->code[w->pc[lane]];
    ptx_fail(b, w, lane, "waits for lanes of its warp that do not come");
}

/* __syncthreads, of all who have not returned: barrier 0 is the only one known here. */
static bool release(struct ptx_block *b)
{
    bool any = false;
    for (int w = 0; w < b->warps; w++) {
        any = any || b->warp[w].waiting != 0;
        b->warp[w].waiting = 0;
    }
    return any;
}

static void set_constants(const struct ptx_block *b, struct ptx_warp *w)
{
    const struct ptx_kernel *k = b->launch->kernel;
    for (int n = 0; n < k->constants; n++)
        for (int lane = 0; lane < PTX_LANES; lane++)
            w->reg[k->registers + n][lane] =
                k->constant[n].special ? special(b, w, lane, (enum ptx_special)k->constant[n].value)
                                       : (uint64_t)k->constant[n].value;
}

static void begin_warp(struct ptx_block *b, struct ptx_warp *w)
{
    int lanes = b->threads - w->number * PTX_LANES;
    w->alive = lanes >= PTX_LANES ? UINT32_MAX : (UINT32_C(1) << lanes) - 1;
    w->waiting = w->parked = 0;
    memset(w->reg, 0xFF, (size_t)b->launch->kernel->registers * sizeof *w->reg);
    set_constants(b, w);
    memset(w->pc, 0, sizeof w->pc);
    for (int lane = 0; lane < PTX_LANES; lane++)
        w->copies[lane].copies = w->copies[lane].groups = 0;
}

static void run_block(struct ptx_block *b)
{
    memset(b->shared, 0xFF, b->launch->shared_bytes);
    b->executed = 0;
    for (int w = 0; w < b->warps; w++)
        begin_warp(b, &b->warp[w]);
    do
        for (int n = 0; n < b->warps && !b->failed; n++)
            run_warp(b, &b->warp[b->launch->warps == PTX_DESCENDING ? b->warps - 1 - n : n]);
    while (!b->failed && release(b));
}

static bool blocks_new(struct ptx_block *b, const struct ptx_launch *l, struct message *why)
{
    const struct ptx_kernel *k = l->kernel;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (threads == 0 || threads > MOST_THREADS || l->shared_bytes > MOST_SHARED)
        return refuse(
            why, "%s: %llu threads and %zu bytes of shared memory a block: at most 1,024 and %d",
            k->name, (unsigned long long)threads, l->shared_bytes, MOST_SHARED);
    *b = (struct ptx_block){.launch = l, .threads = (int)threads, .why = why};
    b->warps = (b->threads + PTX_LANES - 1) / PTX_LANES;
    b->warp = calloc((size_t)b->warps, sizeof *b->warp);
    b->shared = aligned_alloc(128, (l->shared_bytes / 128 + 1) * 128);
    for (int w = 0; w < b->warps && b->warp != NULL; w++) {
        b->warp[w].number = w;
        b->warp[w].reg =
            calloc((size_t)k->registers + (size_t)k->constants + 1, sizeof *b->warp[w].reg);
        b->warp[w].copies = calloc(PTX_LANES, sizeof *b->warp[w].copies);
        if (b->warp[w].reg == NULL || b->warp[w].copies == NULL)
            abort();
    }
    if (b->warp == NULL || b->shared == NULL)
        abort();
    const struct mma_factor bf16 = {FORMAT_BF16, 0}, f16 = {FORMAT_FP16, 0};
    if (l->mma != NULL) {
        b->bf16 = mma_step_of(l->mma, bf16, bf16, FORMAT_FP32);
        b->f16 = mma_step_of(l->mma, f16, f16, FORMAT_FP32);
    }
    return true;
}

static void blocks_free(struct ptx_block *b)
{
    for (int w = 0; w < b->warps; w++) {
        free(b->warp[w].reg);
        free(b->warp[w].copies);
    }
    free(b->warp);
    free(b->shared);
}

bool ptx_run(const struct ptx_launch *launch, struct message *why)
{
    struct ptx_block b;
    if (!blocks_new(&b, launch, why))
        return false;
    const unsigned *grid = launch->grid;
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    for (uint64_t n = 0; n < blocks && !b.failed; n++) {
        uint64_t i = launch->blocks == PTX_DESCENDING ? blocks - 1 - n : n;
        b.at[0] = (unsigned)(i % grid[0]);
        b.at[1] = (unsigned)(i / grid[0] % grid[1]);
        b.at[2] = (unsigned)(i / grid[0] / grid[1]);
        run_block(&b);
    }
    blocks_free(&b);
    return !b.failed;
}
