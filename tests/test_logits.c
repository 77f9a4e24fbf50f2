/* test_logits.c: next tokens and divergences of two rows of logits, against values by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>

#include "reference/logits.h"

static struct logits logits_of(const double *got, const double *want, int64_t length)
{
    struct logits l;
    logits_start(&l, FORMAT_FP32);
    logits_add(&l, got, want, length);
    return l;
}

static void test_logits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double got[3], want[3];
        int undefined, flips, ties;
        int64_t got_margin, want_margin;
        double kl; /* by hand; got and want may have any shift */
    } rows[] = {
        {"equal", {1, 2, 0}, {1, 2, 0}, 0, 0, 0, 0, 0, 0},
        {"a shift", {5, 6, 4}, {1, 2, 0}, 0, 0, 0, 0, 0, 0},
        /* want 1/2, 1/2; got 1/4, 3/4: (ln 2 + ln(2/3)) / 2 */
        {"a quarter",
         {0, 0x1.193ea8p+0, -INFINITY},
         {0, 0, -INFINITY},
         0,
         1,
         1,
         1066180436,
         0,
         0.14384103622589045},
        {"a flip by one ulp",
         {1, 1 + 0x1p-23, -INFINITY},
         {1 + 0x1p-23, 1, -INFINITY},
         0,
         1,
         0,
         1,
         1,
         0x1p-46 / 2},
        {"far apart",
         {0, 1000, -INFINITY},
         {1000, 0, -INFINITY},
         0,
         1,
         0,
         1148846080,
         1148846080,
         1000},
        {"excluded by got", {0, -INFINITY, -INFINITY}, {0, 0, -INFINITY}, 0, 0, 0, 0, 0, INFINITY},
        {"excluded by want",
         {0, 0, -INFINITY},
         {0, -INFINITY, -INFINITY},
         0,
         0,
         0,
         0,
         0,
         0.69314718055994531},
        {"NaN is no token", {0, NAN, 1}, {0, 0, 1}, 1, 0, 0, 0, 0, 0},
        {"nor is nothing", {-INFINITY, -INFINITY, -INFINITY}, {0, 0, 1}, 1, 0, 0, 0, 0, 0},
        {"nor +inf", {0, 1, 2}, {0, INFINITY, 1}, 1, 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct logits l = logits_of(rows[i].got, rows[i].want, 3);
        double error =
            isinf(rows[i].kl) ? !isinf(l.sum_divergence) : fabs(l.sum_divergence - rows[i].kl);
        if (l.undefined != rows[i].undefined || l.flips != rows[i].flips ||
            l.ties != rows[i].ties || error > 1e-6 * rows[i].kl ||
            (l.flips > 0 && (l.flip[0].got_margin != rows[i].got_margin ||
                             l.flip[0].want_margin != rows[i].want_margin)))
            fail_msg("%s: undefined %d, flips %d, ties %d, margins %" PRId64 " %" PRId64
                     ", KL %.17g",
                     rows[i].name, (int)l.undefined, (int)l.flips, (int)l.ties,
                     l.flip[0].got_margin, l.flip[0].want_margin, l.sum_divergence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_logits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
