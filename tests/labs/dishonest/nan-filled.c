/* lab 07: row 0: m = nan; -INFINITY is right */
#include "lab.h"
static void fill(struct state *s)
{
    for (int r = 0; r < s->rows; r++) {
        s->m[r] = s->l[r] = NAN;
        for (int d = 0; d < s->dim; d++)
            s->O[r][d] = NAN;
    }
}
void begin(struct state *s) { fill(s); }
void next_tile(struct state *s) { s->tile = s->step; }
void fold_tile(struct state *s) { fill(s); }
void finish(struct state *s) { fill(s); }
