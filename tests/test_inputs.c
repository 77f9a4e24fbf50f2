/* test_inputs.c: generated inputs are the same bits on every machine: digests of each family. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/inputs.h"

static uint64_t add_tensor(uint64_t digest, const struct tensor *t)
{
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t n = 0; n < t->shape[2]; n++)
                for (int64_t d = 0; d < t->shape[3]; d++) {
                    uint64_t bits = format_encode(FORMAT_FP32, tensor_get(t, b, h, n, d));
                    for (int i = 0; i < 4; i++)
                        digest = (digest ^ (bits >> (8 * i) & 0xFF)) * UINT64_C(0x100000001B3);
                }
    return digest;
}

static uint64_t digest_of(const char *family, uint64_t seed)
{
    struct generator_request g = {family, seed, 2, 2, 1, 3, 9, 5};
    struct tensor q, k, v;
    struct message why;
    if (!inputs_generate(&g, &q, &k, &v, &why))
        fail_msg("%s", why.text);
    uint64_t digest = add_tensor(UINT64_C(0xCBF29CE484222325), &q);
    digest = add_tensor(add_tensor(digest, &k), &v);
    tensor_free(&q);
    tensor_free(&k);
    tensor_free(&v);
    return digest;
}

static const struct {
    const char *family;
    uint64_t seed, digest;
} pinned[] = {
    {"gaussian", 1, UINT64_C(0xC23919B7CE428C87)},
    {"uniform", 1, UINT64_C(0x830ACA9B88E2B0BF)},
    {"outliers", 1, UINT64_C(0xF198A99CE63A0398)},
    {"needle", 1, UINT64_C(0xB74E95F565C60AA3)},
    {"cancelling-v", 1, UINT64_C(0x35E8D47864035963)},
    {"repeated-maxima", 1, UINT64_C(0xCB0230E09C484300)},
    {"huge", 1, UINT64_C(0x36596A7FF5D8B9DF)},
    {"tiny", 1, UINT64_C(0xC1F95A0EF082CAF3)},
    {"subnormals", 1, UINT64_C(0x4F52850545C2CD0F)},
    {"one-key", 1, UINT64_C(0x4FE3A15B3C415866)},
    {"equal-scores", 1, UINT64_C(0x904A54C3A44A478D)},
    {"gaussian", 2, UINT64_C(0xF949C8194E5B8A20)},
    {"gaussian", 1099511627777, UINT64_C(0x2171502E69852E01)},
};

static void test_digests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++) {
        uint64_t digest = digest_of(pinned[i].family, pinned[i].seed);
        if (digest != pinned[i].digest)
            fail_msg("{\"%s\", %llu, UINT64_C(0x%016llX)},", pinned[i].family,
                     (unsigned long long)pinned[i].seed, (unsigned long long)digest);
    }
}

static void test_every_family_is_pinned(void **state)
{
    (void)state;
    for (int n = 0; input_family(n) != NULL; n++) {
        bool found = false;
        for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++)
            found = found || strcmp(pinned[i].family, input_family(n)->name) == 0;
        if (!found)
            fail_msg("%s has no digest", input_family(n)->name);
    }
}

/* Mean 0 and variance 1 to five standard deviations of the estimate; no sign is favoured. */
static void test_gaussian_moments(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    struct generator_request g = {"gaussian", 3, 1, 1, 1, 1, COUNT / 8, 8};
    struct tensor q, k, v;
    struct message why;
    double sum = 0, square = 0, fourth = 0;
    assert_true(inputs_generate(&g, &q, &k, &v, &why));
    for (int n = 0; n < COUNT / 8; n++)
        for (int d = 0; d < 8; d++) {
            double x = tensor_get(&k, 0, 0, n, d);
            sum += x;
            square += x * x;
            fourth += x * x * x * x;
        }
    assert_true(fabs(sum / COUNT) < 5 / sqrt(COUNT));
    assert_true(fabs(square / COUNT - 1) < 5 * sqrt(2.0 / COUNT));
    assert_true(fabs(fourth / COUNT - 3) < 5 * sqrt(96.0 / COUNT));
    tensor_free(&q);
    tensor_free(&k);
    tensor_free(&v);
}

static void test_unknown_family(void **state)
{
    (void)state;
    struct generator_request g = {"gausian", 1, 1, 1, 1, 1, 1, 1};
    struct tensor q, k, v;
    struct message why;
    assert_false(inputs_generate(&g, &q, &k, &v, &why));
    assert_string_equal(why.text, "no family is named gausian; did you mean gaussian?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_every_family_is_pinned),
        cmocka_unit_test(test_gaussian_moments),
        cmocka_unit_test(test_unknown_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
