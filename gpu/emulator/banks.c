/* banks.c: see banks.h.  A bank is four bytes wide; lanes that read the same word share a pass.
   Accesses of 8 and 16 bytes are made by half and quarter warps, one after another. */
#include "gpu/emulator/banks.h"

enum { MOST_GROUPS = 512, SECTOR = 32 };

/* One instruction's n-th execution: who took part, where. */
struct group {
    uint64_t from;
    size_t bytes;
    enum space space;
    uint32_t lanes;
    const unsigned char *address[WARP_LANES];
};
/* Since the warp last met; cursor: where each lane is in the list. */
static struct gathered {
    struct group group[MOST_GROUPS];
    int count, cursor[WARP_LANES];
} gathered[BLOCK_WARPS];
static bool counting;

/* Passes that `count` addresses of `words` words need: the fullest bank's different words. */
static int passes(const unsigned char *const *address, int count, int words)
{
    uintptr_t seen[WARP_LANES][WARP_LANES];
    int different[WARP_LANES] = {0}, most = 0;
    for (int n = 0; n < count; n++)
        for (int i = 0; i < words; i++) {
            uintptr_t word = (uintptr_t)address[n] / 4 + (uintptr_t)i;
            int bank = (int)(word % WARP_LANES), at = 0;
            while (at < different[bank] && seen[bank][at] != word)
                at++;
            if (at < different[bank])
                continue;
            seen[bank][different[bank]++] = word;
            most = different[bank] > most ? different[bank] : most;
        }
    return most;
}

/* Do the eight rows lie in eight different quarters of the banks? */
static bool spread(const unsigned char *const *row)
{
    unsigned quarters = 0;
    for (int n = 0; n < 8; n++)
        quarters |= 1u << ((uintptr_t)row[n] / 16 % 8);
    return quarters == 0xFF;
}

void banks_ldmatrix(const unsigned char *const *row, int matrices)
{
    for (int i = 0; i < matrices; i++)
        emulator_count.ldmatrix_passes +=
            spread(row + 8 * i) ? 1 : (uint64_t)passes(row + 8 * i, 8, 4);
    emulator_count.ldmatrix_ideal += (uint64_t)matrices;
}

static void count_shared(const struct group *g)
{
    int words = g->bytes <= 4 ? 1 : (int)g->bytes / 4, at_once = WARP_LANES / words, taken = 0;
    const unsigned char *part[WARP_LANES];
    emulator_count.shared_requests++;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if ((g->lanes >> lane & 1) != 0)
            part[taken++] = g->address[lane];
        if ((lane + 1) % at_once != 0 || taken == 0)
            continue;
        emulator_count.shared_passes += (uint64_t)passes(part, taken, words);
        emulator_count.shared_ideal++;
        taken = 0;
    }
}

/* Different sectors that the lanes touch, and how few would hold as many bytes. */
static void count_global(const struct group *g)
{
    uintptr_t sector[2 * WARP_LANES];
    int count = 0, lanes = __builtin_popcount(g->lanes);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if ((g->lanes >> lane & 1) == 0)
            continue;
        uintptr_t first = (uintptr_t)g->address[lane] / SECTOR;
        uintptr_t last = ((uintptr_t)g->address[lane] + g->bytes - 1) / SECTOR;
        for (uintptr_t s = first; s <= last && s <= first + 1; s++) {
            int at = 0;
            while (at < count && sector[at] != s)
                at++;
            if (at == count)
                sector[count++] = s;
        }
    }
    emulator_count.global_requests++;
    emulator_count.global_sectors += (uint64_t)count;
    emulator_count.global_ideal += ((uint64_t)lanes * g->bytes + SECTOR - 1) / SECTOR;
}

void banks_converge(const struct warp *w)
{
    struct gathered *all = &gathered[w->number];
    for (int n = 0; n < all->count; n++)
        if (all->group[n].space == SPACE_GLOBAL)
            count_global(&all->group[n]);
        else
            count_shared(&all->group[n]);
    all->count = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        all->cursor[lane] = 0;
}

void banks_launch(void)
{
    counting = emulator_options.statistics;
    for (int n = 0; n < BLOCK_WARPS; n++)
        gathered[n].count = 0;
}

/* The first group from the lane's place on that is of this instruction and lacks the lane. */
static struct group *group_of(struct gathered *all, int lane, uint64_t from)
{
    for (int turn = 0; turn < all->count; turn++) {
        int n = (all->cursor[lane] + turn) % all->count;
        struct group *g = &all->group[n];
        if (g->from == from && (g->lanes >> lane & 1) == 0) {
            all->cursor[lane] = n + 1;
            return g;
        }
    }
    return NULL;
}

void banks_access(const struct lane *l, enum space space, const void *address, size_t bytes,
                  uint64_t from)
{
    if (!counting || bytes > 16 || space == SPACE_OUTSIDE)
        return;
    struct gathered *all = &gathered[l->warp->number];
    struct group *g = group_of(all, l->number, from);
    if (g == NULL) {
        if (all->count == MOST_GROUPS)
            banks_converge(l->warp);
        g = &all->group[all->count++];
        *g = (struct group){.from = from, .bytes = bytes, .space = space};
        all->cursor[l->number] = all->count;
    }
    g->lanes |= UINT32_C(1) << l->number;
    g->address[l->number] = address;
}
