/* compare_summary.c: what a finished comparison says about bias, heads and bases; see compare.h. */
#include "reference/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double compare_mean(const struct comparison *c)
{
    int64_t averaged = c->elements - c->of_kind;
    return averaged > 0 ? c->sum_steps / (double)averaged : 0;
}

/* Rows without a difference have mean 0 and add nothing to the sums. */
bool compare_z(const struct comparison *c, double *z)
{
    double n = (double)c->rows, mean = c->rows_sum / n;
    double variance = (c->rows_square - n * mean * mean) / (n - 1);
    *z = 0;
    if (c->rows < COMPARE_FEW_ROWS)
        return false;
    /* What cancellation leaves of equal rows is no spread. */
    bool none = !(variance > 0x1p-40 * mean * mean);
    *z = mean == 0 ? 0 : none ? copysign(INFINITY, mean) : mean / sqrt(variance / n);
    return true;
}

static int compare_counts(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int64_t compare_odd_heads(const struct comparison *c, bool *marks)
{
    int64_t odd = 0, *sorted = malloc(((size_t)c->heads + 1) * sizeof *sorted);
    if (sorted == NULL)
        abort();
    memcpy(sorted, c->head_differ, (size_t)c->heads * sizeof *sorted);
    qsort(sorted, (size_t)c->heads, sizeof *sorted, compare_counts);
    double middle = (double)sorted[c->heads / 2], n = (double)(c->elements / c->heads);
    double sigma = sqrt(fmax(middle * (1 - middle / n), 1));
    for (int64_t h = 0; h < c->heads; h++)
        odd += marks[h] = fabs((double)c->head_differ[h] - middle) > 6 * sigma;
    free(sorted);
    return odd;
}

/* Each number agrees by chance with odds of about 2^(3-p): twenty bits are asked for. */
int compare_base(const struct comparison *c)
{
    if (c->differ == 0 || c->base_evidence * (format_info(c->format)->precision - 3) < 20)
        return 0;
    return c->base_alive[0] ? 1 : c->base_alive[1] ? -1 : 0;
}
