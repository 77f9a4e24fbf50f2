/* test_library.c: flashulp.h: the order of the outputs, packed sequences too, true digits where they
   belong, and what a refused handle says.  tests/check_install.sh tries the installed one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/flashulp.h"
#include "simulator/simulate.h"

static const struct {
    int count;
    const char *words[5];
} runs[] = {
    {1, {"minilm-4"}},
    {3, {"minilm-4", "--cu-seqlens", "0,70,172"}},
    {3, {"minilm-0", "--algorithm", "fa1"}},
};

/* The digest is taken over O in b, h, n, d order, then L: so the outputs are in that order. */
static void test_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        int64_t n[4];
        flashulp *f = flashulp_new(runs[i].count, runs[i].words);
        assert_null(flashulp_output(f));
        assert_null(flashulp_lse(f));
        if (flashulp_why(f) != NULL || !flashulp_run(f))
            fail_msg("%s: %s", runs[i].words[0], flashulp_why(f));
        flashulp_shape(f, n);
        int64_t rows = n[0] * n[1] * n[2];
        uint64_t got =
            digest_outputs(FORMAT_BF16, flashulp_output(f), rows * n[3], flashulp_lse(f), rows);
        if (got != flashulp_digest(f))
            fail_msg("%s: outputs give %016llx, the run %016llx", flashulp_command(f),
                     (unsigned long long)got, (unsigned long long)flashulp_digest(f));
        flashulp_free(f);
    }
}

/* True digits of a packed row lie within a bf16 rounding of that very row's output. */
static void test_exact_place(void **state)
{
    (void)state;
    static const int64_t places[][3] = {{0, 0, 0}, {11, 69, 31}, {3, 70, 5}, {11, 171, 31}};
    flashulp *f = flashulp_new(runs[1].count, runs[1].words);
    assert_true(flashulp_run(f));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const int64_t *at = places[i];
        char *digits = flashulp_exact(f, 0, at[0], at[1], at[2], 12);
        double got = flashulp_output(f)[(at[0] * 172 + at[1]) * 32 + at[2]];
        assert_non_null(digits);
        double exact = strtod(digits, NULL), off = got > exact ? got - exact : exact - got;
        if (!(off <= 0x1p-8))
            fail_msg("[0,%d,%d,%d]: %s, output %a", (int)at[0], (int)at[1], (int)at[2], digits,
                     got);
        flashulp_text_free(digits);
    }
    flashulp_free(f);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        int count;
        const char *words[3], *why;
    } rows[] = {
        {0,
         {NULL},
         "no problem is named; an example (fa2-4), a .safetensors or .npz file, --q --k "
         "--v, --scores --values, or --generate is right"},
        {3,
         {"fa2-4", "--rows", "0"},
         "--rows is the program's; the library takes options of problem and run"},
        {2,
         {"fa2-4", "--check"},
         "--check is the program's; the library takes options of problem and run"},
        {3,
         {"fa2-4", "--policy", "gpu-bf61"},
         "no policy is called \"gpu-bf61\"; did you mean gpu-bf16?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        flashulp *f = flashulp_new(rows[i].count, rows[i].words);
        assert_non_null(flashulp_why(f));
        assert_string_equal(flashulp_why(f), rows[i].why);
        assert_null(flashulp_command(f));
        assert_false(flashulp_run(f));
        assert_false(flashulp_trace(f, "nowhere/x.trace", false));
        assert_null(flashulp_exact(f, 0, 0, 0, 0, 5));
        assert_string_equal(flashulp_why(f), rows[i].why);
        flashulp_free(f);
    }
    const char *const words[] = {"fa2-4"};
    flashulp *f = flashulp_new(1, words);
    assert_null(flashulp_exact(f, 0, 0, 0, 0, 0));
    assert_string_equal(flashulp_why(f), "0 digits: 1 to 100,000 is right");
    assert_true(flashulp_run(f));
    assert_null(flashulp_why(f));
    flashulp_free(f);
    flashulp_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_exact_place),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
