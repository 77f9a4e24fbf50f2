/* test_sha256.c: the standard's own vectors, every way to cut a message in two, and the machine's
   instructions against the portable code on every length up to three blocks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "reference/sha256.h"

static struct sha256_text digest_of(const void *bytes, size_t count, int portable)
{
    struct sha256 s;
    if (portable)
        sha256_start_portable(&s);
    else
        sha256_start(&s);
    sha256_add(&s, bytes, count);
    return sha256_end(&s);
}

/* FIPS 180-2, appendix B, and NIST's empty message and one million times "a". */
static void test_vectors(void **state)
{
    (void)state;
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    const struct {
        const char *message;
        size_t length;
        const char *digest;
    } rows[] = {
        {"", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int portable = 0; portable < 2; portable++)
            assert_string_equal(digest_of(rows[i].message, rows[i].length, portable).text,
                                rows[i].digest);
    free(million);
}

static void test_pieces(void **state)
{
    (void)state;
    enum { LENGTH = 200 };
    unsigned char bytes[LENGTH];
    for (int i = 0; i < LENGTH; i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    for (size_t length = 0; length <= LENGTH; length++) {
        struct sha256_text whole = digest_of(bytes, length, 1);
        assert_string_equal(digest_of(bytes, length, 0).text, whole.text);
        for (size_t cut = 0; cut <= length; cut++) {
            struct sha256 s;
            sha256_start(&s);
            sha256_add(&s, bytes, cut);
            sha256_add(&s, bytes + cut, length - cut);
            struct sha256_text pieces = sha256_end(&s);
            if (strcmp(pieces.text, whole.text) != 0)
                fail_msg("%zu bytes cut at %zu: %s, whole %s", length, cut, pieces.text,
                         whole.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
