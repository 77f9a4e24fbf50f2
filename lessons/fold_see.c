/* fold_see.c: the viewer's command for a tile that went wrong. */
#include <stdlib.h>

#include "lessons/fold.h"
#include "simulator/scenario_parts.h"

/* "1 2 | 3 0": entries [c][d] of the tiles walked, in the order they came. */
static void append_tiles(char **to, const struct fold_run *run, const float *x, size_t stride)
{
    for (int t = 0; t < run->walked; t++) {
        int first = run->order[t] * run->tile, end = first + run->tile;
        text_append(to, "%s", t > 0 ? " |" : "");
        for (int c = first; c < end && c < run->Nk; c++)
            text_append(to, "%s%.9g", t + c - first > 0 ? " " : "", (double)x[(size_t)c * stride]);
    }
}

void fold_see(struct fold_run *run, int r, int d, const char *step, int which)
{
    static const float example[] = {1, 2, 3, 0};
    char *text = NULL;
    bool known = run->Nk == 4 && run->tile == 2 && memcmp(run->S[r], example, sizeof example) == 0;
    for (int t = 0; t < run->walked; t++)
        known = known && run->order[t] == t;
    text_append(&text, "flashulp view ");
    if (known) {
        text_append(&text, "fa2-4");
    } else {
        text_append(&text, "--scores \"");
        append_tiles(&text, run, run->S[r], 1);
        text_append(&text, "\" --values \"");
        append_tiles(&text, run, &run->V[0][d], MAX_DIM);
        text_append(&text, "\"");
    }
    text_append(&text, " --at %s:%d", step, which);
    see(run->g, text);
    free(text);
}
