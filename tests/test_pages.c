/* test_pages.c: --block-table: whichever pages hold the keys, the sequence is the same; pages that do
   not exist are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/scenario_pages.h"
#include "tests/random_problem.h"

enum { PAGE = 16, PAGES = 5, D = 8, HEADS = 2 };

/* "flashulp run x --block-table ..." parsed. */
static struct scenario parsed(int argc, char **argv)
{
    struct scenario s;
    struct message why;
    assert_true(scenario_parse(&s, "run", GROUP_PROBLEM, argc, argv, &why));
    return s;
}

static struct problem pool(uint64_t seed)
{
    struct problem p;
    struct problem_options options = problem_defaults();
    assert_true(draw_problem(&p, FORMAT_BF16, (struct shape){1, 4, HEADS, 1, PAGE * PAGES, D}, 1,
                             &options, &seed));
    return p;
}

static void test_gathered(void **state)
{
    (void)state;
    static const int64_t table[] = {3, 0, 4};
    struct scenario s = parsed(4, (char *[]){"--block-table", "3,0,4", "--kv-length", "41"});
    struct problem whole = pool(7), p = pool(7);
    struct message why;
    char *remarks = NULL;
    assert_true(problem_from_pages(&s, &p, &remarks, &why));
    assert_int_equal(p.Nk, 41);
    for (int64_t h = 0; h < HEADS; h++)
        for (int64_t n = 0; n < p.Nk; n++)
            for (int64_t d = 0; d < D; d++) {
                int64_t at = table[n / PAGE] * PAGE + n % PAGE;
                assert_true(tensor_get(&p.k, 0, h, n, d) == tensor_get(&whole.k, 0, h, at, d));
                assert_true(tensor_get(&p.v, 0, h, n, d) == tensor_get(&whole.v, 0, h, at, d));
            }
    free(remarks);
    problem_free(&p);
    problem_free(&whole);
    scenario_free(&s);
}

static const struct refusal {
    const char *words[6], *sentence;
} refusals[] = {
    {{"--block-table", "0,5"},
     "--block-table: block 1 is on page 5; there are 5 pages of 16 tokens, from 0 on"},
    {{"--block-table", "0,-1"},
     "--block-table: block 1 is on page -1; there are 5 pages of 16 tokens, from 0 on"},
    {{"--block-table", "0,1", "--kv-length", "16"},
     "--kv-length 16: a whole number from 17 to 32 is right"},
    {{"--block-table", "0,1", "--page-size", "7"},
     "--page-size 7: K and V hold 80 tokens, which are no whole pages"},
    {{"--page-size", "8"}, "--page-size and --kv-length go with --block-table"},
    {{"--block-table", "a"}, "--block-table a: whole numbers separated by commas are right"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        int count = 0;
        while (count < 6 && refusals[i].words[count] != NULL)
            count++;
        struct scenario s = parsed(count, (char **)refusals[i].words);
        struct problem p = pool(8);
        struct message why;
        char *remarks = NULL;
        assert_false(problem_from_pages(&s, &p, &remarks, &why));
        assert_string_equal(why.text, refusals[i].sentence);
        problem_free(&p);
        scenario_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gathered), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
