/* test_claims.c: the ledger: right values, and no stored answers.

   Right values are written down here from independent calculations.  That nothing is stored is shown
   by changing every input of every computed row: something must answer it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/claims.h"

static const struct {
    enum claim claim;
    const char *computed;
    enum verdict_word verdict;
    const char *told[5]; /* what the derivation must contain */
} right[] = {
    {CLAIM_A1, "16x", VERDICT_HOLDS, {0}},
    {CLAIM_A2, "1.75, 45.7 %", VERDICT_DIGITS, {"45.7143"}},
    {CLAIM_A3, "2, 0.367879, 1, 1.36788, 23.6788", VERDICT_DIGITS, {"23.6787944117"}},
    {CLAIM_A4,
     "3, 0.367879, 8.71094, 38.7109, 1.553",
     VERDICT_DIGITS,
     {"8.71094165579", "38.7109416558"}},
    {CLAIM_A5,
     "24.92653, the same",
     VERDICT_DIGITS,
     {"0.087144319", "0.032058603", "24.926527345857"}},
    {CLAIM_A6, "3.44019, 0.64404", VERDICT_DIGITS, {"0.644036"}},
    {CLAIM_A7, "1 x 2, 1; 2, 1", VERDICT_HOLDS, {"v1.0.9"}},
    {CLAIM_A8,
     "49.2 %; 1",
     VERDICT_DIGITS,
     {"n =  4   37.50 % skipped, 4 masked", "masks 2 of each row block, 3 where"}},
    {CLAIM_A8b,
     "counts 1.60-1.98; model 1.40-1.94",
     VERDICT_PARTLY,
     {"at 1 of 6 lengths", "n =   8  counts 1.78", "no GPU was asked"}},
    {CLAIM_A9,
     "29.6 %, 2,048",
     VERDICT_PARTLY,
     {"32 blocks on 108 SMs, 29.6 %, 76 idle", "18.96 waves at one an SM, 19 launched, 99.8 % full",
      "80 / 108 = 74 %"}},
    {CLAIM_A10, "3.436e10, 0.1494, 2.5x", VERDICT_DIGITS, {"34,359,738,368"}},
    {CLAIM_A11, "73.7, 72.1, 26-38", VERDICT_PARTLY, {"226.2 to 229.3", "65.6", "26.2-38.3"}},
    {CLAIM_A12, "6 of 6, 2048, 2048", VERDICT_HOLDS, {"32 x 512", "1 x 16,384"}},
    {CLAIM_A13,
     "12, 72.1 %; halved 60 %",
     VERDICT_DIGITS,
     {"4 x 3 = 12", "4 x 3.5 = 14", "1.987e+14"}},
    {CLAIM_A14,
     "0 against 1,196,032 bytes",
     VERDICT_HOLDS,
     {"barriers for the tiles of K and V"}},
    {CLAIM_A15,
     "3 of 3 alike; sums of 3, 2 of 2",
     VERDICT_HOLDS,
     {"shared (2,560 bytes) against copied (7,680 bytes)",
      "heads in bf16  unlike the sum: 0 of 1,280; unlike one head alone: 1,280"}},
    {CLAIM_A16,
     "real: yes; bf16 16 of 48",
     VERDICT_EXACT_ONLY,
     {"fa2       exact arithmetic 48 of 48"}},
    {CLAIM_A17, "1.000 a token", VERDICT_HOLDS, {"2.000", "1.38", "1.33"}},
    {CLAIM_A18,
     "model 1.9-15.0; 1.3-3; 296-692",
     VERDICT_NO_GPU,
     {"measured 335, between", "cannot tell it apart", "a block a head"}},
    {CLAIM_A19, "16 N^2; 5 N, 2 N^2", VERDICT_HOLDS, {0}},
    {CLAIM_A20,
     "6 of 6; 0 of 6 larger fit",
     VERDICT_HOLDS,
     {"d 128  128 x 64; 256 x 64 spills; 128 x 128 spills; 256 x 128 spills",
      "d 192  128 x 64; 256 x 64 spills; 128 x 128 fits; 256 x 128 too big",
      "1 of 12 would fit"}},
    {CLAIM_A21,
     "0 bytes of sums; 2 waits",
     VERDICT_HOLDS,
     {"by rows           0 bytes of sums,    65,536 of P and dS\n"
      "            2 waits, 5 barriers; bits that differ: 0 of 20,480",
      "by keys     262,144 bytes of sums,         0 of P and dS"}},
    {CLAIM_A22,
     "3.06x, 1.29x",
     VERDICT_FAILS,
     {"220 / 72 = 3.06x", "225 / 80 = 2.81x", "225 / 175 = 1.29x"}},
    {CLAIM_B1, "400 of 400", VERDICT_HOLDS, {0}},
    {CLAIM_B2, "400 of 400", VERDICT_HOLDS, {"ragged tail"}},
    {CLAIM_B3,
     "no: 6, 7 of 8 wrong",
     VERDICT_FAILS,
     {"  tile-max\n    exact  x = 1 0, v = 1 0, tile 1: 0.5 for 0.7311\n",
      "  zero-start\n    exact  right on all 644 inputs\n    fp32   x = -104, v = 1, tile 1: no "
      "number for 1\n",
      "  no-tail-mask\n    exact  x = 0, v = 1, tile 2: 0.5 for 1\n",
      "  no fault\n    exact  right on all",
      "zero-start too:\n    exact  x = -1 0, v = 1 0, tile 1: 0.5 for 0.2689\n"}},
    {CLAIM_B4, "0.5 for 0.7311", VERDICT_HOLDS, {"= -0.2310585786", "are equal in"}},
    {CLAIM_B5, "5 m: 24.9265; e^89", VERDICT_HOLDS, {0}},
    {CLAIM_C1, "2^-4", VERDICT_HOLDS, {0}},
    {CLAIM_C2, "431", VERDICT_HOLDS, {"holds 5 tokens"}},
    {CLAIM_C3,
     "54, 62, 87",
     VERDICT_HOLDS,
     {"132 SMs  54 groups of 8 blocks; 216/264", "57 if counts", "63 if counts", "80 if counts",
      "40 before v2.5.7"}},
    {CLAIM_C4,
     "512, 448, 320",
     VERDICT_HOLDS,
     {"0 512 1,024 ... 27,136, where the last has 389", "27,328, where the last has 197",
      "27,520, where the last has 5 tokens"}},
    {CLAIM_C5, "26.3 % of x", VERDICT_HOLDS, {"c = ln 2  differ:  0.00 %"}},
    {CLAIM_C6, "bf16 fp32; fp32 fp32", VERDICT_HOLDS, {"a group's statistics       fp32"}},
    {CLAIM_C7,
     "checks: 6 of 6; exact 1.328125",
     VERDICT_NO_DATA,
     {"3FA97E2D  midpoint-5.6e-05  bf16 1.3203125  ok", "3FA9807D  midpoint+1.5e-05",
      "3FA98154  midpoint+4.1e-05", "1.3203125 is the misrounded"}},
    {CLAIM_C8,
     "16; 9 at 257",
     VERDICT_PARTLY,
     {"16 groups of 1,728, the last of 1,605", "9 groups of 32", "fewer than 16: 3,600"}},
    {CLAIM_C9,
     "33, 47",
     VERDICT_HOLDS,
     {"the first 9 have 4 tiles, others 3; tile 107 is in group 8",
      "the first 14 have 3 tiles, others 2; tile 107 is in group 13"}},
    {CLAIM_C10, "<= 37, not 216", VERDICT_PARTLY, {"ordinary GQA decode", "not established"}},
    {CLAIM_C11, "3F800000, 3F800001", VERDICT_HOLDS, {0}},
    {CLAIM_C12, "models: 7 of 7", VERDICT_NO_GPU, {"fa2-split@B200               3 of 3 runs"}},
    {CLAIM_C13,
     "22, 9,060, 99.839 %",
     VERDICT_DIGITS,
     {"4,339 tokens in 7", "6,335 to 122,863", "99.757"}},
    {CLAIM_C14,
     "24.9265273...",
     VERDICT_PARTLY,
     {"24.926527345857697673706175244266298647779132374230"}},
    {CLAIM_C15, "2^-253; 5 of 6", VERDICT_HOLDS, {0}},
    {CLAIM_C16, "4", VERDICT_HOLDS, {"XQA on 2 of these GPUs", "33 groups, round robin"}},
    {CLAIM_C17, "bf16 bf16; bf16 fp32", VERDICT_HOLDS, {"weights of the normaliser  bf16"}},
};
enum { RIGHT = sizeof right / sizeof right[0] };

static void test_right_values(void **state)
{
    (void)state;
    struct claim_inputs in = claim_inputs_published();
    for (int i = 0; i < RIGHT; i++) {
        struct claim_outcome out;
        claim_evaluate(right[i].claim, &in, &out);
        if (strcmp(out.computed, right[i].computed) != 0 || out.verdict != right[i].verdict)
            fail_msg("%s: computed \"%s\", %s; want \"%s\", %s", claim_info(right[i].claim)->name,
                     out.computed, verdict_name(out.verdict), right[i].computed,
                     verdict_name(right[i].verdict));
        for (int t = 0; t < 5 && right[i].told[t] != NULL; t++)
            if (out.explain == NULL || strstr(out.explain, right[i].told[t]) == NULL)
                fail_msg("%s does not say \"%s\"", claim_info(right[i].claim)->name,
                         right[i].told[t]);
        claim_outcome_free(&out);
    }
}

/* Every row of the list, in its order; every verdict is the recorded one; computed rows are those
   of `right`. */
static void test_rows(void **state)
{
    (void)state;
    static const char *const list[] = {
        "A1",  "A2",  "A3",  "A4",  "A5",  "A6",  "A7",  "A8",  "A8b", "A9",  "A10", "A11",
        "A12", "A13", "A14", "A15", "A16", "A17", "A18", "A19", "A20", "A21", "A22", "B1",
        "B2",  "B3",  "B4",  "B5",  "C1",  "C2",  "C3",  "C4",  "C5",  "C6",  "C7",  "C8",
        "C9",  "C10", "C11", "C12", "C13", "C14", "C15", "C16", "C17", "C18"};
    struct claim_inputs in = claim_inputs_published();
    int computed = 0;
    assert_int_equal(CLAIM_COUNT, sizeof list / sizeof list[0]);
    for (int c = 0; c < CLAIM_COUNT; c++) {
        const struct claim_info *info = claim_info((enum claim)c);
        struct claim_outcome out;
        assert_string_equal(info->name, list[c]);
        claim_evaluate((enum claim)c, &in, &out);
        if (out.verdict != info->recorded)
            fail_msg("%s: %s, recorded %s", info->name, verdict_name(out.verdict),
                     verdict_name(info->recorded));
        computed += info->compute != NULL;
        assert_non_null(out.explain); /* what was derived, read or is missing */
        claim_outcome_free(&out);
    }
    assert_int_equal(computed, RIGHT);
}

/* Inputs that a number more or less would not change, or would make slow. */
static const struct {
    enum claim_input input;
    const char *text;
} special[] = {
    {INPUT_B3_KEYS, "2"},       {INPUT_B3_TILES, "1"},   {INPUT_C11_TREE, "((0 1) 2)"},
    {INPUT_C13_SERIES, "SP01"}, {INPUT_B3_PRINTED, "2"}, {INPUT_A7_SCORES, "1 | 2 | 3"},
    {INPUT_C6_KERNEL, "paged-v2@H200"}, {INPUT_C17_KERNEL, "fa2-split@H200"},
};

/* The n-th variant of a text of numbers: its first number changed in one of several ways, or its
   last one dropped.  False when there are no more. */
static bool variant(enum claim_input i, int n, char *text, size_t room)
{
    const char *old = claim_input_info(i)->text;
    char *end;
    double x = strtod(old, &end);
    for (size_t s = 0; s < sizeof special / sizeof special[0]; s++)
        if (special[s].input == i) {
            snprintf(text, room, "%s", special[s].text);
            return n == 0;
        }
    const double changed[] = {x + 1, 1.5 * x, x - 1};
    if (n < 3) {
        snprintf(text, room, "%.17g%s", changed[n], end);
        return true;
    }
    const char *last = strrchr(old, ' ');
    if (n > 3 || last == NULL || strchr(old, '|') != NULL)
        return false;
    snprintf(text, room, "%.*s", (int)(last - old), old);
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/* Does any variant change the computed text (*answer), or at least the verdict or the derivation?
   Another published figure changes the verdict alone: that does not show that anything was computed. */
static bool responds(enum claim_input i, bool *answer)
{
    enum claim c = claim_input_info(i)->claim;
    struct claim_inputs in = claim_inputs_published();
    struct claim_outcome before, after;
    char text[200];
    bool any = false;
    *answer = false;
    claim_evaluate(c, &in, &before);
    for (int n = 0; !*answer && variant(i, n, text, sizeof text); n++) {
        in.text[i] = text;
        claim_evaluate(c, &in, &after);
        *answer = strcmp(after.computed, before.computed) != 0;
        any = any || *answer || after.verdict != before.verdict ||
              !same_text(after.explain, before.explain);
        claim_outcome_free(&after);
    }
    claim_outcome_free(&before);
    return any;
}

static void test_no_stored_answers(void **state)
{
    (void)state;
    bool answers[CLAIM_COUNT] = {false};
    int changed = 0;
    for (int i = 0; i < CLAIM_INPUT_COUNT; i++) {
        const struct claim_input_info *info = claim_input_info((enum claim_input)i);
        bool answer;
        if (!responds((enum claim_input)i, &answer))
            fail_msg("%s does not depend on its input %s", claim_info(info->claim)->name,
                     info->name);
        answers[info->claim] |= answer;
        changed += answer;
    }
    for (int c = 0; c < CLAIM_COUNT; c++)
        if (claim_info((enum claim)c)->compute != NULL && !answers[c])
            fail_msg("%s gives the same answer whatever it is given",
                     claim_info((enum claim)c)->name);
    printf("# note %d inputs changed one by one; %d change the computed text\n", CLAIM_INPUT_COUNT,
           changed);
}

/* A published figure that is off by more than half a unit of its last digit is noticed. */
static void test_false_figures(void **state)
{
    (void)state;
    static const struct {
        enum claim_input input;
        const char *text;
        enum verdict_word verdict;
    } rows[] = {
        {INPUT_A1_COST, "15", VERDICT_FAILS},
        {INPUT_A2_FIGURES, "1.75 45", VERDICT_PARTLY},
        {INPUT_A2_FIGURES, "1.76 45", VERDICT_FAILS},
        {INPUT_A5_FIGURE, "24.94", VERDICT_PARTLY},
        {INPUT_A6_FIGURES, "3.440 0.645", VERDICT_PARTLY},
        {INPUT_A7_KEPT, "2 2", VERDICT_PARTLY},
        {INPUT_A8_FIGURES, "0.4 1", VERDICT_PARTLY},
        {INPUT_A8_FIGURES, "0.4 2", VERDICT_FAILS},
        {INPUT_A8b_RANGE, "1.5 2", VERDICT_HOLDS},
        {INPUT_A9_NEARLY, "105 90", VERDICT_DIGITS},
        {INPUT_A15_SHAPE, "1 2 20 40 8", VERDICT_PARTLY}, /* one query head: no sum */
        {INPUT_A20_SIZES, "64 256", VERDICT_FAILS},
        {INPUT_A21_WARPS, "1", VERDICT_PARTLY}, /* one warp waits for nobody */
        {INPUT_A20_DIMS, "32 300", VERDICT_FAILS},
        {INPUT_A11_FIGURES, "74 72", VERDICT_DIGITS},
        {INPUT_A22_FIGURES, "3.1 1.3", VERDICT_DIGITS},
        {INPUT_C2_BLOCKS, "430", VERDICT_FAILS},
        {INPUT_C1_HEAD_SIZE, "128", VERDICT_FAILS},
        {INPUT_C1_HEAD_SIZE, "64", VERDICT_FAILS},
        {INPUT_B3_PRINTED, "0", VERDICT_HOLDS},
        {INPUT_C7_FLOATS, "1.3241630794 1.3242336512 1.3242592812", VERDICT_FAILS},
        {INPUT_C7_RESULTS, "1.328125 1.328125 1.328125", VERDICT_FAILS},
        {INPUT_C7_MAXIMA, "1.875 1.751 1.500", VERDICT_FAILS},
        {INPUT_C11_TERMS, "0 -23 -24", VERDICT_FAILS},
        {INPUT_C11_TERMS, "0 -24 -25", VERDICT_FAILS},
        {INPUT_A13_FACTOR, "14", VERDICT_PARTLY},
        {INPUT_A19_DEGREES, "2 2 2", VERDICT_PARTLY},
        {INPUT_B4_EQUAL, "1 -2 | 2 0 | 0 1", VERDICT_FAILS},
        {INPUT_C5_SHIFTS, "0", VERDICT_FAILS},
        {INPUT_C3_GROUPS, "57 62 87", VERDICT_PARTLY},
        {INPUT_C3_GROUPS, "27 31 40", VERDICT_FAILS},
        {INPUT_C3_LAUNCH, "27525 4 300", VERDICT_FAILS},
        {INPUT_C4_SECOND, "512 448 448", VERDICT_PARTLY},
        {INPUT_C8_GROUPS, "8", VERDICT_FAILS},
        {INPUT_C8_SEARCHED, "256", VERDICT_PARTLY},
        {INPUT_C9_GROUPS, "33 46", VERDICT_PARTLY},
        {INPUT_C9_SMS, "108 148", VERDICT_FAILS},
        {INPUT_C10_TILE, "745", VERDICT_HOLDS},
        {INPUT_C16_TRTLLM, "11", VERDICT_FAILS},
        {INPUT_C16_ALGORITHMS, "3", VERDICT_FAILS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum claim c = claim_input_info(rows[i].input)->claim;
        struct claim_inputs in = claim_inputs_published();
        struct claim_outcome out;
        in.text[rows[i].input] = rows[i].text;
        claim_evaluate(c, &in, &out);
        if (out.verdict != rows[i].verdict)
            fail_msg("%s with %s = \"%s\": %s, want %s", claim_info(c)->name,
                     claim_input_info(rows[i].input)->name, rows[i].text, verdict_name(out.verdict),
                     verdict_name(rows[i].verdict));
        claim_outcome_free(&out);
    }
}

static void test_ranges(void **state)
{
    (void)state;
    struct claim_inputs in = claim_inputs_published();
    struct claim_outcome out;
    struct decode_range changed[22];
    assert_int_equal(in.range_count, 22);
    memcpy(changed, in.ranges, sizeof changed);
    changed[16].tokens++;
    in.ranges = changed;
    claim_evaluate(CLAIM_C13, &in, &out);
    assert_string_equal(out.computed, "22, 9,061, 99.839 %");
    assert_int_equal(out.verdict, VERDICT_PARTLY);
    claim_outcome_free(&out);
}

/* Printed lines: tables at most 73 columns, a first line that fits beside the id. */
static void test_widths(void **state)
{
    (void)state;
    struct claim_inputs in = claim_inputs_published();
    for (int c = 0; c < CLAIM_COUNT; c++) {
        struct claim_outcome out;
        claim_evaluate((enum claim)c, &in, &out);
        for (const char *at = out.explain; at != NULL && *at != 0;) {
            int length = (int)strcspn(at, "\n");
            bool bound =
                *at == ' ' || (at == out.explain && claim_info((enum claim)c)->compute != NULL);
            if (bound && length > (*at == ' ' ? 73 : 79))
                fail_msg("%s: %d columns: %.*s", claim_info((enum claim)c)->name, length, length,
                         at);
            at += length + (at[length] == '\n');
        }
        claim_outcome_free(&out);
    }
}

static void test_names(void **state)
{
    (void)state;
    enum claim c;
    struct message why;
    assert_true(claim_from_name("A8b", &c, &why) && c == CLAIM_A8b);
    assert_true(claim_from_name("c11", &c, &why) && c == CLAIM_C11);
    assert_false(claim_from_name("A99", &c, &why));
    assert_string_equal(why.text, "no claim is called \"A99\"; did you mean A9?");
    assert_false(claim_from_name("everything", &c, &why));
    assert_string_equal(why.text, "no claim is called \"everything\"; flashulp claims lists them");
    assert_false(claim_from_name("", &c, &why));
    assert_string_equal(why.text, "no claim is called \"\"; flashulp claims lists them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_values),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_no_stored_answers),
        cmocka_unit_test(test_false_figures),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
