/* test_capture.c: what the metadata of a capture mean, and that the command line wins. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "simulator/scenario.h"

static char path[64];

/* q (2,3,4,5), k and v (2,3,6,5); `swapped` bits: which of them lie as (2,N,3,5) in the file. */
static void write_capture(const char *const *meta, unsigned swapped, const char *third)
{
    static const char *const names[2] = {"q", "k"};
    struct bundle b = {0};
    struct tensor t[3];
    struct message why;
    for (int i = 0; i < 3; i++) {
        int64_t n = i == 0 ? 4 : 6;
        const int64_t shape[4] = {2, swapped >> i & 1 ? n : 3, swapped >> i & 1 ? 3 : n, 5};
        assert_true(tensor_new(&t[i], FORMAT_BF16, 4, shape, &why));
        assert_true(bundle_add(&b, i < 2 ? names[i] : third, &t[i], &why));
    }
    for (; meta[0] != NULL; meta += 2)
        assert_true(bundle_add_meta(&b, meta[0], meta[1], &why));
    if (!bundle_write(path, &b, true, &why))
        fail_msg("%s", why.text);
    bundle_free(&b);
    for (int i = 0; i < 3; i++)
        tensor_free(&t[i]);
}

static const struct {
    const char *meta[8];
    unsigned swapped;
    enum option option; /* of the command line, with its text; OPTION_COUNT: none */
    const char *text;
    const char *sentence, *remarks;
    bool causal, top_left;
    int64_t left, right;
    double scale; /* 0: the default, 1/sqrt(5) */
    double softcap;
} rows[] = {
    {{NULL}, 0, OPTION_COUNT, NULL, NULL, "", false, false, -1, -1, 0, 0},
    {{"scale", "0.25", "causal", "True", NULL}, 0, OPTION_COUNT, NULL, NULL,
     "scale 0.25 taken from the file\ncausal taken from the file\n", true, false, -1, 0, 0.25, 0},
    {{"scale", "0.25", NULL}, 0, OPTION_SCALE, "2", NULL, "", false, false, -1, -1, 2, 0},
    {{"scale", "None", "softcap", "", NULL}, 0, OPTION_COUNT, NULL, NULL, "", false, false, -1, -1,
     0, 0},
    {{"window", "(2, 1)", "softcap", "30.0", NULL}, 0, OPTION_COUNT, NULL, NULL,
     "window (2, 1) taken from the file\nsoftcap 30.0 taken from the file\n", false, false, 2, 1, 0,
     30},
    {{"window", "[2, 1]", NULL}, 0, OPTION_WINDOW, "0,-1", NULL, "", false, false, 0, -1, 0, 0},
    {{"causal", "1", "causal_align", "top-left", NULL}, 0, OPTION_COUNT, NULL, NULL,
     "causal taken from the file\n", true, true, -1, 0, 0, 0},
    {{"layout", "bnhd", NULL}, 7, OPTION_COUNT, NULL, NULL, "layout bnhd taken from the file\n",
     false, false, -1, -1, 0, 0},
    {{"layout", "BSHD", "layout.q", "bhnd", NULL}, 6, OPTION_COUNT, NULL, NULL,
     "layout bnhd taken from the file\n", false, false, -1, -1, 0, 0},
    {{"layout.q", "bnhd", NULL}, 1, OPTION_COUNT, NULL, NULL, "layout bnhd taken from the file\n",
     false, false, -1, -1, 0, 0},
    {{"layout", "bhnd", NULL}, 7, OPTION_LAYOUT, "bnhd", NULL, "", false, false, -1, -1, 0, 0},
    {{"scale", "quarter", NULL}, 0, OPTION_COUNT, NULL,
     "metadata scale 'quarter': a number is right", NULL, false, false, 0, 0, 0, 0},
    {{"causal", "perhaps", NULL}, 0, OPTION_COUNT, NULL,
     "metadata causal 'perhaps': true or false is right", NULL, false, false, 0, 0, 0, 0},
    {{"window", "-2,0", NULL}, 0, OPTION_COUNT, NULL,
     "metadata window '-2,0': left,right, each -1 or more, is right", NULL, false, false, 0, 0, 0,
     0},
    {{"window", "wide", NULL}, 0, OPTION_COUNT, NULL,
     "metadata window 'wide': two whole numbers, left,right, is right", NULL, false, false, 0, 0, 0,
     0},
    {{"softcap", "-3", NULL}, 0, OPTION_COUNT, NULL,
     "metadata softcap '-3': 0 or a positive number is right", NULL, false, false, 0, 0, 0, 0},
    {{"layout", "nhd", NULL}, 0, OPTION_COUNT, NULL,
     "metadata layout 'nhd': bhnd or bnhd is right", NULL, false, false, 0, 0, 0, 0},
};

static void check_problem(size_t i, const struct scenario_input *in)
{
    const struct problem *p = &in->problem;
    const int64_t sizes[6] = {p->B, p->Hq, p->Hkv, p->Nq, p->Nk, p->D}, want[6] = {2, 3, 3, 4, 6, 5};
    assert_memory_equal(sizes, want, sizeof sizes);
    assert_string_equal(in->remarks, rows[i].remarks);
    bool same = p->mask.causal == rows[i].causal && p->mask.left == rows[i].left &&
                p->mask.right == rows[i].right && p->softcap == rows[i].softcap &&
                (p->mask.align == ALIGN_TOP_LEFT) == rows[i].top_left &&
                p->scale.root == (rows[i].scale == 0 ? 5 : 1) &&
                p->scale.value == (rows[i].scale == 0 ? 1 : rows[i].scale);
    if (!same)
        fail_msg("row %zu: window %d,%d scale %g", i, (int)p->mask.left, (int)p->mask.right,
                 p->scale.value);
}

static void test_metadata(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario s = {.verb = "run", .problem = strdup(path)};
        struct scenario_input in;
        struct message why;
        write_capture(rows[i].meta, rows[i].swapped, "v");
        if (rows[i].option != OPTION_COUNT) {
            s.given[rows[i].option] = true;
            s.value[rows[i].option] = strdup(rows[i].text);
        }
        bool ok = scenario_problem(&s, &in, &why);
        if (ok != (rows[i].sentence == NULL))
            fail_msg("row %zu: %s", i, ok ? "taken" : why.text);
        if (ok) {
            check_problem(i, &in);
            scenario_input_free(&in);
        } else {
            assert_string_equal(why.text + strlen(path) + 2, rows[i].sentence);
        }
        scenario_free(&s);
    }
}

static void test_missing_tensor(void **state)
{
    (void)state;
    static const char *const none[1] = {NULL};
    struct scenario s = {.verb = "run", .problem = strdup(path)};
    struct scenario_input in;
    struct message why;
    write_capture(none, 0, "value");
    assert_false(scenario_problem(&s, &in, &why));
    assert_string_equal(why.text + strlen(path) + 2, "no tensor named v; it has q, k, value");
    write_capture(none, 0, "v\033[31m");
    assert_false(scenario_problem(&s, &in, &why));
    assert_string_equal(why.text + strlen(path) + 2, "no tensor named v; it has q, k, v?[31m");
    scenario_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_missing_tensor),
    };
    snprintf(path, sizeof path, "/tmp/flashulp-capture-%ld.safetensors", (long)getpid());
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return status;
}
