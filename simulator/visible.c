/* visible.c: which keys a row sees, as one interval.

   Follows problem.h's contract: with r' = r + Nk - Nq (top-left: r' = r) a window shows keys
   r' - left .. r' + right, and causal sets right to 0.  The reference asks the same question pair by
   pair (sees); tests/test_visible.c exhausts their equality on small shapes. */
#include "simulator/arith.h"

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

void visible_interval(const struct visible *v, int r, int *lo, int *hi)
{
    const struct head *h = v->head;
    const struct mask *mask = &h->problem->mask;
    int64_t row = v->row0 + r;
    int64_t diagonal = row + (mask->align == ALIGN_BOTTOM_RIGHT ? h->Nk - h->Nq : 0);
    int64_t first = mask->left < 0 ? 0 : diagonal - mask->left;
    int64_t end = mask->causal ? diagonal + 1 : mask->right < 0 ? h->Nk : diagonal + mask->right + 1;
    first = clamp(first, 0, h->Nk);
    end = clamp(end, 0, h->Nk);
    if (row < 0 || row >= h->Nq)
        end = first;
    first = clamp(first - v->col0, 0, v->count);
    end = clamp(end - v->col0, 0, v->count);
    *lo = (int)(end > first ? first : 0);
    *hi = (int)(end > first ? end : 0);
}

bool visible_any(const struct visible *v, int rows)
{
    for (int r = 0; r < rows; r++) {
        int lo, hi;
        visible_interval(v, r, &lo, &hi);
        if (hi > lo)
            return true;
    }
    return false;
}
