/* test_course.c: a course's settings, the copies they make, HMAC-SHA-256 (RFC 4231), worksheets. */
#include "tests/folder.h"

#include <math.h>

#include "lessons/worksheet.h"

static void test_hmac(void **state)
{
    (void)state;
    char twenty[21] = {0}, long_key[132] = {0};
    memset(twenty, 0x0b, 20);
    memset(long_key, 0xaa, 131);
    const struct {
        const char *key, *text, *want;
    } rows[] = {
        {twenty, "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", "what do ya want for nothing?",
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {long_key, "Test Using Larger Than Block-Size Key - Hash Key First",
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char digest[32];
        char text[65];
        hmac_sha256(rows[i].key, rows[i].text, digest);
        for (int b = 0; b < 32; b++)
            snprintf(text + 2 * b, 3, "%02x", digest[b]);
        assert_string_equal(text, rows[i].want);
    }
}

static void write_file(const char *text)
{
    FILE *f = fopen("c.ini", "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_settings(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"secret = short\n", "c.ini:1: secret: at least 16 characters are right"},
        {"\n# note\nfeedback = loud\n",
         "c.ini:3: feedback = loud: cause, property or none is right"},
        {"hidden = never\n", "c.ini:1: hidden = never: later, due or now is right"},
        {"points.07 = 1,2\n", "c.ini:1: points.07 = 1,2: 10 numbers from 0 to 100 are right"},
        {"points.99 = 1\n", NULL},
        {"\nseconds = 0\n", "c.ini:2: seconds = 0: a number from 0.1 to 60 is right"},
        {"seconds.07 = soon\n", "c.ini:1: seconds.07 = soon: a number from 0.1 to 60 is right"},
        {"memory = 8\n", "c.ini:1: memory = 8: a whole number from 16 to 65536 is right"},
        {"output.12 = 1.5\n", "c.ini:1: output.12 = 1.5: a whole number from 1 to 65536 is right"},
        {"memory.99 = 64\n", NULL},
        {"memories = 64\n", "c.ini:1: no setting is called memories"},
        {"labs = 02 77\n", NULL},
        {"colour = red\n", "c.ini:1: no setting is called colour"},
        {"secret\n", "c.ini:1: NAME = VALUE is right"}};
    struct course c;
    struct message why;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_file(rows[i][0]);
        assert_false(course_read("c.ini", &c, &why));
        if (rows[i][1] != NULL)
            assert_string_equal(why.text, rows[i][1]);
    }
    write_file(
        "secret = sixteen letters or more # not this\n points.12= 1,2,3,4,0,5\nhidden=now\n");
    assert_true(course_read("c.ini", &c, &why));
    assert_string_equal(c.secret, "sixteen letters or more");
    assert_true(c.show_hidden && c.variants && c.feedback == FEEDBACK_CAUSE);
    struct lab lab = course_lab(&c, lab_from_name("gqa", &why));
    assert_int_equal(lab_points(&lab), 15);
    assert_true(lab.allowance.seconds == 1 && lab.allowance.memory == 256);
    write_file("seconds.12 = 2.5\nseconds = 3\nmemory = 64\noutput.07 = 5\nhidden = due\n");
    assert_true(course_read("c.ini", &c, &why));
    lab = course_lab(&c, lab_from_name("12", &why));
    assert_true(lab.allowance.seconds == 2.5 && lab.allowance.memory == 64);
    assert_true(lab.allowance.output == 1000 && c.due && !c.show_hidden);
    lab = course_lab(&c, lab_from_name("07", &why));
    assert_true(lab.allowance.seconds == 3 && lab.allowance.output == 5);
}

/* The same name gives the same copy, another name or secret mostly another one. */
static void test_variants(void **state)
{
    (void)state;
    struct course c, d;
    struct message why;
    course_defaults(&c);
    c.variants = true;
    d = c;
    snprintf(c.secret, sizeof c.secret, "first secret of the course");
    snprintf(d.secret, sizeof d.secret, "second secret of the course");
    const struct lab *lab = lab_from_name("07", &why);
    int bases = 0, ascending = 0, moved = 0;
    for (int i = 0; i < 64; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        struct variant v = course_variant(&c, lab, name), again = course_variant(&c, lab, name);
        struct variant other = course_variant(&d, lab, name);
        assert_true(v.base == again.base && v.seed == again.seed && v.direction != 0);
        assert_true(v.window >= 1 && v.window <= 5 && v.window != 2 && v.bits >= 4 && v.bits <= 8 &&
                    v.bits != 7);
        bases += v.base == 2;
        ascending += v.direction > 0;
        moved += v.seed != other.seed;
    }
    assert_true(bases > 16 && bases < 48 && ascending > 16 && ascending < 48 && moved == 64);
    struct variant nobody = course_variant(&c, lab, NULL);
    assert_true(nobody.student == NULL && nobody.base == -1 && nobody.direction == 0);
}

/* What must hold of any sheet, whoever's it is. */
static void test_worksheets(void **state)
{
    (void)state;
    struct course c;
    struct message why;
    course_defaults(&c);
    for (int i = 0; i < 200; i++) {
        struct worksheet five, seven;
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        assert_true(worksheet_new(&five, "05", &c, name, &why));
        assert_true(worksheet_new(&seven, "fa2", &c, name, &why));
        assert_int_equal(five.blanks, 12);
        assert_int_equal(seven.blanks, 13);
        double m = 0, l = 0, O = 0;
        for (int j = 0; j < 4; j++)
            m = fmax(m, seven.x[j]);
        for (int j = 0; j < 4; j++) {
            l += exp(seven.x[j] - m);
            O += exp(seven.x[j] - m) * seven.v[j];
        }
        assert_true(fabs(seven.blank[11].value - O / l) < 1e-12);
        assert_true(fabs(seven.blank[12].value - (m + log(l))) < 1e-12);
        assert_true(seven.blank[6].value < 1); /* something is rescaled */
    }
    struct worksheet w;
    assert_false(worksheet_new(&w, "12", &c, "s", &why));
    assert_string_equal(why.text, "lesson 12 has no worksheet; 00 02 03 05 06 07 16 have");
}

static double blank(const struct worksheet *w, const char *name, int which)
{
    for (int i = 0; i < w->blanks; i++)
        if (strcmp(w->blank[i].name, name) == 0 && which-- == 0)
            return w->blank[i].value;
    fail_msg("no blank %s", name);
    return 0;
}

/* The other forms, each by another way than it is made. */
static void test_forms(void **state)
{
    (void)state;
    struct course c;
    struct message why;
    course_defaults(&c);
    for (int i = 0; i < 100; i++) {
        struct worksheet w;
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        assert_true(worksheet_new(&w, "03", &c, name, &why));
        double sum = 0, O = 0;
        for (int k = 0; k < 3; k++) {
            sum += exp(w.x[k]);
            O += exp(w.x[k]) * w.v[k];
        }
        assert_true(fabs(blank(&w, "O", 2) - O / sum) < 1e-12);
        assert_true(fabs(blank(&w, "L", 0) - log(sum)) < 1e-12);
        assert_true(worksheet_new(&w, "02", &c, name, &why));
        assert_true(fabs(blank(&w, "P[0]", 0) + blank(&w, "P[1]", 0) + blank(&w, "P[2]", 0) - 1) <
                    1e-12);
        assert_true(fabs(log(blank(&w, "e^L", 0)) - blank(&w, "L", 0)) < 1e-12);
        assert_true(worksheet_new(&w, "00", &c, name, &why));
        assert_true(fmod(blank(&w, "a", 0), blank(&w, "ulp a", 0)) == 0);
        assert_true(fmod(blank(&w, "c", 0), 0.25) == 0);
        assert_true(blank(&w, "(1+h)+h", 0) == 1 && blank(&w, "1+(h+h)", 0) == 1.125);
        assert_true(worksheet_new(&w, "06", &c, name, &why));
        assert_true(fabs(blank(&w, "O", 0) - 1) < 1.0 / 16);
        assert_true(worksheet_new(&w, "16", &c, name, &why));
        assert_true(blank(&w, "splits", 0) > 1 && blank(&w, "splits", 0) <= blank(&w, "slots", 0));
        assert_true(blank(&w, "tokens", 0) * blank(&w, "splits", 0) >=
                    64 * (blank(&w, "blocks", 0) - 1));
    }
}

static void test_marking(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *typed;
        bool right;
    } rows[] = {{0.36787944, "0.368", true},
                {0.36787944, ".3679", true},
                {0.36787944, "0.37", false},
                {0.36787944, "0.37x", false},
                {0.36787944, "0.366", false},
                {2, "2", true},
                {2, "2.0", true},
                {2, "1.99", true},
                {2, "1.9", false},
                {24.926527, "24.93", true},
                {24.926527, "24.9", true},
                {24.926527, "25", false},
                {0, "0", true},
                {0, "", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct blank b = {.value = rows[i].value};
        if (worksheet_right(&b, rows[i].typed) != rows[i].right)
            fail_msg("%s for %.17g", rows[i].typed, rows[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hmac),     cmocka_unit_test(test_settings),
        cmocka_unit_test(test_variants), cmocka_unit_test(test_worksheets),
        cmocka_unit_test(test_forms),    cmocka_unit_test(test_marking)};
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
