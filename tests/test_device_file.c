/* test_device_file.c: devices from JSON files: what is taken, what is refused in which words. */
#include "tests/folder.h"

#include "simulator/devices.h"

#include <math.h>
#include <sys/stat.h>

#define FIGURES "\"figures\": {\"SMs\": 56}"
#define BEFORE "{\"name\": \"X-1\", \"architecture\": \"sm80\", "

static void test_example(void **state)
{
    (void)state;
    struct device_record d;
    struct message why = {""};
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/tests/data/device.json", folder_origin);
    if (!device_lookup(path, &d, &why))
        fail_msg("%s", why.text);
    assert_string_equal(d.name, "A30");
    assert_string_equal(d.meaning, "A30 24GB, a device that the table does not have");
    assert_int_equal(d.architecture, ARCHITECTURE_SM80);
    static const double want[QUANTITY_COUNT] = {56, 165, 10.3, 933, 0, 0};
    for (int q = 0; q < QUANTITY_COUNT; q++)
        assert_true(d.figure[q] == want[q]);
    assert_string_equal(d.source[QUANTITY_BF16], "NVIDIA A30 datasheet");
    assert_string_equal(d.source[QUANTITY_CLOCK], "");
}

static void test_table(void **state)
{
    (void)state;
    struct device_record d;
    struct message why = {""};
    for (int i = 0; i < DEVICE_COUNT; i++) {
        const struct device_info *info = device_info((enum device)i);
        if (!device_lookup(info->name, &d, &why))
            fail_msg("%s", why.text);
        assert_string_equal(d.name, info->name);
        assert_string_equal(d.meaning, info->meaning);
        assert_int_equal(d.architecture, info->architecture);
        for (int q = 0; q < QUANTITY_COUNT; q++) {
            const char *source;
            assert_true(d.figure[q] == device_figure((enum device)i, (enum quantity_id)q, &source));
            assert_string_equal(d.source[q], source != NULL ? source : "");
        }
    }
    check_refused(device_lookup("H100", &d, &why), &why,
                  "H100 is no device; H100-SXM (132 SMs) or H100-PCIe (114 SMs) is right");
    check_refused(device_lookup(".json", &d, &why), &why,
                  "unknown device \".json\"; flashulp list devices");
}

static void test_taken(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name, *source;
        double sms, clock;
    } rows[] = {
        {BEFORE FIGURES "}", "X-1", "x.json", 56, 0},
        {" \r\n\t" BEFORE FIGURES "\n}\n", "X-1", "x.json", 56, 0},
        {"{" FIGURES ", \"architecture\": \"SM120\", \"name\": \"x_1\"}", "x_1", "x.json", 56, 0},
        {BEFORE "\"figures\": {\"SMs\": 4.096e3, \"boost clock\": 1e-3}}", "X-1", "x.json", 4096,
         1e-3},
        {BEFORE "\"figures\": {\"SMs\": {\"source\": \"a \\\"b\\\" \\\\ \\/\", \"value\": 1}}}",
         "X-1", "a \"b\" \\ /", 1, 0},
        {BEFORE "\"figures\": {\"SMs\": {\"unit\": \"\", \"value\": 10E+1}, \"boost clock\": "
                "{\"value\": 1000000000.0, \"unit\": \"MHz\"}}, \"meaning\": \"\"}",
         "X-1", "x.json", 100, 1e9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct device_record d;
        struct message why = {""};
        folder_put("x.json", rows[i].text, strlen(rows[i].text));
        if (!device_lookup("x.json", &d, &why))
            fail_msg("%s: %s", rows[i].text, why.text);
        assert_string_equal(d.name, rows[i].name);
        assert_string_equal(d.source[QUANTITY_SMS], rows[i].source);
        assert_true(d.figure[QUANTITY_SMS] == rows[i].sms);
        assert_true(d.figure[QUANTITY_CLOCK] == rows[i].clock);
    }
}

/* The text of a device with this as its SMs, or as its bf16, or before everything else. */
static const struct {
    const char *text, *sentence;
} refused[] = {
    {"", "x.json:1: { is wanted where the file ends"},
    {"[]", "x.json:1: { is wanted here"},
    {"\xef\xbb\xbf{}", "x.json:1: { is wanted here"},
    {"{}", "x.json: the device has no \"name\""},
    {"{\"name\": \"X-1\"}", "x.json: the device has no \"architecture\""},
    {"{\"name\": \"X-1\", \"architecture\": \"sm80\"}", "x.json: the device has no \"figures\""},
    {BEFORE "\"figures\": {}}", "x.json:1: the figures want \"SMs\""},
    {BEFORE FIGURES, "x.json:1: a comma or } is wanted where the file ends"},
    {BEFORE FIGURES ",}", "x.json:1: a text in double quotes is wanted here"},
    {BEFORE FIGURES "\n\"meaning\": \"\"}", "x.json:2: a comma or } is wanted here"},
    {BEFORE FIGURES "} {}", "x.json:1: something follows the device; the file ends with its }"},
    {BEFORE "\"figures\" 3}", "x.json:1: a colon is wanted here"},
    {BEFORE "\"figures\": 3}", "x.json:1: { is wanted here"},
    {BEFORE "\n\n\"figure\": 3}", "x.json:3: unknown key \"figure\"; did you mean \"figures\"?"},
    {BEFORE "\"sms\": 3}",
     "x.json:1: unknown key \"sms\"; name, architecture, figures and meaning are read"},
    {BEFORE "\"figures\": {\"sms\": 3}}", "x.json:1: unknown key \"sms\"; did you mean \"SMs\"?"},
    {BEFORE "\"figures\": {\"L2\": 3}}",
     "x.json:1: unknown key \"L2\"; SMs, bf16, fp32, memory, boost clock and boost clock of tensor "
     "work are read"},
    {BEFORE "\"figures\": {\"SMs\": {\"values\": 3}}}",
     "x.json:1: unknown key \"values\"; did you mean \"value\"?"},
    {BEFORE "\"figures\": {\"SMs\": 3, \"SMs\": 3}}", "x.json:1: \"SMs\" for the second time"},
    {BEFORE "\"name\": \"Y\"}", "x.json:1: \"name\" for the second time"},
    {BEFORE "\"figures\": {\"SMs\": {\"unit\": \"\"}}}", "x.json:1: SMs has no \"value\""},
    {BEFORE "\"figures\": {\"bf16\": {\"unit\": \"GFLOP/s\"}}}",
     "x.json:1: bf16 in \"GFLOP/s\"; \"TFLOP/s\" is right"},
    {BEFORE "\"figures\": {\"SMs\": \"56\"}}",
     "x.json:1: a number of at most 40 characters is wanted here"},
    {BEFORE "\"figures\": {\"SMs\": null}}",
     "x.json:1: a number of at most 40 characters is wanted here"},
    {BEFORE "\"figures\": {\"SMs\": NaN}}",
     "x.json:1: a number of at most 40 characters is wanted here"},
    {BEFORE "\"figures\": {\"SMs\": .5}}",
     "x.json:1: a number of at most 40 characters is wanted here"},
    {BEFORE "\"figures\": {\"SMs\": 5.}}",
     "x.json:1: a number of at most 40 characters is wanted here"},
    {BEFORE "\"figures\": {\"SMs\": 5e}}",
     "x.json:1: a number of at most 40 characters is wanted here"},
    {BEFORE "\"figures\": {\"SMs\": 56.00000000000000000000000000000000000000}}",
     "x.json:1: a number of at most 40 characters is wanted here"},
    {BEFORE "\"figures\": {\"SMs\": 056}}",
     "x.json:1: SMs: a whole number from 1 to 4096 is right"},
    {BEFORE "\"figures\": {\"SMs\": 0x38}}",
     "x.json:1: SMs: a whole number from 1 to 4096 is right"},
    {BEFORE "\"figures\": {\"SMs\": 0}}", "x.json:1: SMs: a whole number from 1 to 4096 is right"},
    {BEFORE "\"figures\": {\"SMs\": -1}}", "x.json:1: SMs: a whole number from 1 to 4096 is right"},
    {BEFORE "\"figures\": {\"SMs\": 1.5}}",
     "x.json:1: SMs: a whole number from 1 to 4096 is right"},
    {BEFORE "\"figures\": {\"SMs\": 4097}}",
     "x.json:1: SMs: a whole number from 1 to 4096 is right"},
    {BEFORE "\"figures\": {\"SMs\": 1e999}}",
     "x.json:1: SMs: a whole number from 1 to 4096 is right"},
    {BEFORE "\"figures\": {\"fp32\": 0}}",
     "x.json:1: fp32: a number above 0, at most 1e+09, is right"},
    {BEFORE "\"figures\": {\"fp32\": -1}}",
     "x.json:1: fp32: a number above 0, at most 1e+09, is right"},
    {BEFORE "\"figures\": {\"fp32\": 1e-999}}",
     "x.json:1: fp32: a number above 0, at most 1e+09, is right"},
    {BEFORE "\"figures\": {\"fp32\": 1000000000.1}}",
     "x.json:1: fp32: a number above 0, at most 1e+09, is right"},
    {"{\"name\": \"h200\"}",
     "x.json:1: the name h200 is that of flashulp list devices; another is right"},
    {"{\"name\": \"\"}", "x.json:1: a name of letters, digits and dashes is right"},
    {"{\"name\": \"A,B\"}", "x.json:1: a name of letters, digits and dashes is right"},
    {"{\"name\": \"fa2@B\"}", "x.json:1: a name of letters, digits and dashes is right"},
    {"{\"name\": 3}", "x.json:1: a text in double quotes is wanted here"},
    {"{\"name\": \"A\nB\"}", "x.json:1: a text of printable ASCII, closed by a quote, is wanted"},
    {"{\"name\": \"\xc3\xa9\"}",
     "x.json:1: a text of printable ASCII, closed by a quote, is wanted"},
    {"{\"name\": \"\\u0041\"}",
     "x.json:1: a text of printable ASCII, closed by a quote, is wanted"},
    {"{\"name\": \"A", "x.json:1: a text of printable ASCII, closed by a quote, is wanted"},
    {"{\"name\": \"A\\", "x.json:1: a text of printable ASCII, closed by a quote, is wanted"},
    {"{\"name\": \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
     "x.json:1: a text of more than 63 characters"},
    {"{\"architecture\": \"sm99\"}",
     "x.json:1: unknown architecture \"sm99\"; flashulp list architectures"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct device_record d;
        struct message why = {""};
        folder_put("x.json", refused[i].text, strlen(refused[i].text));
        bool ok = device_lookup("x.json", &d, &why);
        if (ok || strcmp(why.text, refused[i].sentence) != 0)
            fail_msg("%s\n      got:  %s\n      want: %s", refused[i].text, ok ? "" : why.text,
                     refused[i].sentence);
    }
}

/* A zero byte, a file just too large, and no file at all. */
static void test_refused_files(void **state)
{
    (void)state;
    struct device_record d;
    struct message why;
    static char large[65537];
    folder_put("x.json", BEFORE FIGURES "}\0", sizeof BEFORE FIGURES + 1);
    check_refused(device_lookup("x.json", &d, &why), &why,
                  "x.json:1: something follows the device; the file ends with its }");
    memset(large, ' ', sizeof large);
    memcpy(large, BEFORE FIGURES "}", sizeof BEFORE FIGURES);
    folder_put("x.json", large, sizeof large - 1);
    assert_true(device_lookup("x.json", &d, &why));
    folder_put("x.json", large, sizeof large);
    check_refused(device_lookup("x.json", &d, &why), &why,
                  "x.json: 65537 bytes; at most 65536 are read");
    check_refused(device_parse("memory", (unsigned char *)large, sizeof large, &d, &why), &why,
                  "memory: 65537 bytes; a device has at most 65536");
    check_refused(device_lookup("no.JSON", &d, &why), &why, "no.JSON: no such file");
}

/* Every beginning of a sound file, and every one byte of it changed, ends in a sentence of its own
   or in a device whose figures lie in their ranges. */
static void test_damage(void **state)
{
    (void)state;
    const char *text = BEFORE "\"figures\": {\"SMs\": 56, \"memory\": {\"value\": 9.3e2, \"unit\": "
                              "\"GB/s\", \"source\": \"s\\\\\"}}, \"meaning\": \"\"}";
    static const char bytes[] = "\0\t\n \"\\/{}[],:.-+0189eEaz\x7f\x80\xff";
    size_t size = strlen(text);
    for (size_t at = 0; at < size; at++)
        for (size_t b = 0; b <= sizeof bytes; b++) {
            struct device_record d;
            struct message why = {""};
            char *copy = malloc(size + 1); /* by itself, so that sanitizers see its end */
            memcpy(copy, text, size + 1);
            size_t length = b == sizeof bytes ? at : size;
            copy[at] = b == sizeof bytes ? 0 : bytes[b];
            bool ok = device_parse("x", (unsigned char *)copy, length, &d, &why);
            if (!ok && strncmp(why.text, "x:1: ", 5) != 0 && strncmp(why.text, "x:2: ", 5) != 0)
                fail_msg("%s: %s", copy, why.text);
            if (ok && !(1 <= d.figure[QUANTITY_SMS] && d.figure[QUANTITY_SMS] <= 4096))
                fail_msg("%s: %g SMs", copy, d.figure[QUANTITY_SMS]);
            free(copy);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example), cmocka_unit_test(test_table),
        cmocka_unit_test(test_taken),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damage),  cmocka_unit_test(test_refused_files),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
