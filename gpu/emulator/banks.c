/* banks.c: see banks.h.  A bank is four bytes wide; lanes that read the same word share a pass. */
#include "gpu/emulator/banks.h"

/* Passes that `count` rows of `words` words need: the fullest bank's different words. */
static int passes(const unsigned char *const *row, int count, int words)
{
    uintptr_t seen[WARP_LANES][WARP_LANES];
    int different[WARP_LANES] = {0}, most = 0;
    for (int n = 0; n < count; n++)
        for (int i = 0; i < words; i++) {
            uintptr_t word = (uintptr_t)row[n] / 4 + (uintptr_t)i;
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

void banks_ldmatrix(const unsigned char *const *row, int matrices)
{
    for (int i = 0; i < matrices; i++)
        emulator_count.ldmatrix_passes += (uint64_t)passes(row + 8 * i, 8, 4);
    emulator_count.ldmatrix_ideal += (uint64_t)matrices;
}
