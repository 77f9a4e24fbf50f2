/* exact_row.h: a row of an mpfr run against the definition: |dO| <= 2^-200 sum pi |v| and
   |dLSE| <= 2^-200 max(1, |LSE|).  Include <mpfr.h> before. */
#ifndef FLASHULP_TESTS_EXACT_ROW_H
#define FLASHULP_TESTS_EXACT_ROW_H

#include <math.h>
#include <stdlib.h>

#include "reference/certified.h"
#include "reference/exact.h"

enum { EXACT_ROW_TRUTH = 320, EXACT_ROW_AGREE = -200 };

/* |got - want| <= 2^-200 unit; not finite: the same.  Otherwise both are printed. */
static inline bool exact_agrees(mpfr_srcptr got, mpfr_srcptr want, double unit)
{
    mpfr_t error;
    bool close;
    if (!mpfr_number_p(got) || !mpfr_number_p(want)) {
        close = (mpfr_nan_p(got) && mpfr_nan_p(want)) || mpfr_equal_p(got, want);
    } else {
        mpfr_init2(error, 64);
        mpfr_sub(error, got, want, MPFR_RNDA);
        mpfr_abs(error, error, MPFR_RNDN);
        close = mpfr_cmp_d(error, ldexp(unit, EXACT_ROW_AGREE)) <= 0;
        mpfr_clear(error);
    }
    if (!close)
        mpfr_printf("# got %.70Ra\n# not %.70Ra\n", got, want);
    return close;
}

/* O: rows x D, L: rows, of the head.  What differs in the row, "O" or "LSE", or NULL. */
static inline const char *exact_row_differs(const struct head *h, int64_t row, const mpfr_t *O,
                                            const mpfr_t *L, bool with_lse)
{
    const char *differs = NULL;
    mpfr_t *want = malloc(((size_t)h->D + 1) * sizeof *want);
    for (int64_t d = 0; d <= h->D; d++)
        mpfr_init2(want[d], EXACT_ROW_TRUTH);
    exact_row(h, row, EXACT_ROW_TRUTH, want, want[h->D]);
    struct certified_row *certified = certified_row_new(h, row);
    for (int64_t d = 0; d < h->D && differs == NULL; d++)
        if (!exact_agrees(O[row * h->D + d], want[d], certified_weight(certified, d)))
            differs = "O";
    double lse = fabs(mpfr_get_d(want[h->D], MPFR_RNDN));
    if (differs == NULL && with_lse && !exact_agrees(L[row], want[h->D], lse > 1 ? lse : 1))
        differs = "LSE";
    certified_row_free(certified);
    for (int64_t d = 0; d <= h->D; d++)
        mpfr_clear(want[d]);
    free(want);
    return differs;
}

#endif
