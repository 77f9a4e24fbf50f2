/* test_visible.c: the simulator's intervals against the reference's sees(), pair by pair, on every
   small head, mask and tile: the two are written separately and must say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "simulator/arith.h"

enum { MOST = 6, MARGIN = 2 };

/* Row r of the tile: is [lo, hi) exactly what it sees of [col0, col0 + count)?  Rows of the tile
   that the head does not have see nothing. */
static bool interval_is_right(const struct visible *v, int r, int lo, int hi)
{
    const struct head *h = v->head;
    int64_t row = v->row0 + r;
    if (lo > hi || lo < 0 || hi > v->count || (lo == hi && lo != 0))
        return false;
    for (int c = 0; c < v->count; c++) {
        int64_t col = v->col0 + c;
        bool seen = row < h->Nq && col < h->Nk && sees(h, row, col);
        if (seen != (c >= lo && c < hi))
            return false;
    }
    return true;
}

static void check_tile(const struct visible *v, int rows)
{
    const struct mask *m = &v->head->problem->mask;
    bool any = false;
    for (int r = 0; r < rows; r++) {
        int lo, hi;
        visible_interval(v, r, &lo, &hi);
        any = any || hi > lo;
        if (!interval_is_right(v, r, lo, hi))
            fail_msg("Nq %d Nk %d causal %d top-left %d window %d,%d: tile at %d,%d of %d keys, "
                     "row %d: [%d, %d)",
                     (int)v->head->Nq, (int)v->head->Nk, m->causal, m->align == ALIGN_TOP_LEFT,
                     (int)m->left, (int)m->right, (int)v->row0, (int)v->col0, v->count, r, lo, hi);
    }
    assert_int_equal(visible_any(v, rows), any);
}

/* Every tile of the head: any first row, any first key, any number of keys, also none, also more
   rows than the head has. */
static int64_t check_tiles(const struct head *h)
{
    int64_t tiles = 0;
    for (int64_t row0 = 0; row0 < h->Nq + 1; row0++)
        for (int64_t col0 = 0; col0 <= h->Nk; col0++)
            for (int count = 0; col0 + count <= h->Nk; count++, tiles++) {
                struct visible v = {h, row0, col0, count + MARGIN, count};
                check_tile(&v, (int)(h->Nq - row0) + MARGIN);
            }
    return tiles;
}

static int64_t over_masks(int64_t (*check)(struct problem *p), struct problem *p)
{
    int64_t done = 0;
    for (int left = -1; left <= 4; left++)
        for (int right = -1; right <= 4; right++)
            for (int causal = 0; causal < 2; causal++)
                for (int align = 0; align < 2; align++) {
                    p->mask = (struct mask){causal, align ? ALIGN_TOP_LEFT : ALIGN_BOTTOM_RIGHT,
                                            left, causal ? 0 : right};
                    done += check(p);
                }
    return done;
}

static int64_t check_units(struct problem *p)
{
    int64_t done = 0;
    for (int64_t n = 0; n < problem_units(p); n++) {
        struct head h = problem_head(p, n);
        done += check_tiles(&h);
    }
    return done;
}

static void equal_lengths(void **unused)
{
    (void)unused;
    int64_t tiles = 0;
    for (int64_t Nq = 0; Nq <= MOST; Nq++)
        for (int64_t Nk = 0; Nk <= MOST; Nk++) {
            struct problem p = {.B = 1, .Hq = 1, .Hkv = 1, .Nq = Nq, .Nk = Nk, .D = 1};
            tiles += over_masks(check_units, &p);
        }
    printf("# note %lld tiles, each row against sees()\n", (long long)tiles);
}

/* Packed sequences: every head's mask is in its own rows and keys, wherever they are packed. */
static void variable_lengths(void **unused)
{
    (void)unused;
    int64_t cu_q[] = {0, 3, 3, 4, 9, 15}, cu_k[] = {0, 5, 7, 7, 10, 12};
    struct problem p = {.B = 1, .Hq = 4, .Hkv = 2, .Nq = 15, .Nk = 12, .D = 1,
                        .sequences = 5, .cu_q = cu_q, .cu_k = cu_k};
    over_masks(check_units, &p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lengths),
        cmocka_unit_test(variable_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
