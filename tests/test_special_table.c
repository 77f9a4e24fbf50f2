/* test_special_table.c: tables of special functions.  Written here byte by byte after the layout in
   special_table.h, read by the program: every entry is used as it stands, in every arithmetic; what
   has no entry is correctly rounded; a file that is not whole is refused in words. */
#include "tests/folder.h"
#include "tests/special_oracle.h"

#include <time.h>

#include "reference/sha256.h"
#include "simulator/arith.h"
#include "simulator/special_table.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A file being made. */
struct maker {
    unsigned char *bytes;
    size_t size;
    int sections;
};

static void put(unsigned char *at, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(x >> 8 * i);
}

static struct maker maker_new(int sections)
{
    struct maker m = {NULL, TABLE_HEADER_BYTES + (size_t)TABLE_SECTION_BYTES * (size_t)sections, 0};
    m.bytes = calloc(1, m.size);
    assert_non_null(m.bytes);
    memcpy(m.bytes, "ULPTABLE", 8);
    put(m.bytes + 8, 1, 4);
    put(m.bytes + 12, (uint64_t)sections, 4);
    memcpy(m.bytes + 64, "sm90", 4);
    memcpy(m.bytes + 80, "NVIDIA H200", 11);
    memcpy(m.bytes + 144, "driver 570.86, CUDA 12.8", 24);
    return m;
}

static void add_section(struct maker *m, const char *function, uint32_t layout, uint32_t entry,
                        uint32_t flags, uint64_t first, uint64_t count, const void *data)
{
    size_t at = (m->size + 7) / 8 * 8, bytes = (size_t)count * entry;
    m->bytes = realloc(m->bytes, at + bytes);
    assert_non_null(m->bytes);
    memset(m->bytes + m->size, 0, at - m->size);
    memcpy(m->bytes + at, data, bytes); /* entries are written on a little-endian machine */
    m->size = at + bytes;
    unsigned char *s = m->bytes + TABLE_HEADER_BYTES + TABLE_SECTION_BYTES * m->sections++;
    memcpy(s, function, strlen(function));
    put(s + 8, layout, 4);
    put(s + 12, entry, 4);
    put(s + 16, flags, 4);
    put(s + 24, first, 8);
    put(s + 32, count, 8);
    put(s + 40, at, 8);
}

static void put_hash(unsigned char *bytes, size_t size)
{
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, bytes + TABLE_HASHED_FROM, size - TABLE_HASHED_FROM);
    struct sha256_text text = sha256_end(&hash);
    for (int i = 0; i < 32; i++) {
        unsigned byte;
        sscanf(text.text + 2 * i, "%2x", &byte);
        bytes[16 + i] = (unsigned char)byte;
    }
}

static void finish(struct maker *m)
{
    put(m->bytes + 48, m->size, 8);
    put_hash(m->bytes, m->size);
}

static const struct special_table *written(struct maker *m, const char *name)
{
    struct message why = {""};
    finish(m);
    folder_put(name, m->bytes, m->size);
    free(m->bytes);
    const struct special_table *t = special_table_open(name, &why);
    if (t == NULL)
        fail_msg("%s", why.text);
    return t;
}

/* Correctly rounded to fp32, by MPFR. */
static float rounded(enum function fn, float x)
{
    if (isnan(x) || ((fn == FUNCTION_LOG2 || fn == FUNCTION_LOG) && x < 0))
        return float_of(0x7FC00000);
    if (fn == FUNCTION_RCP)
        return 1 / x;
    return (float)oracle_to_odd(fn, x);
}

/* n floats up, one at a time; a zero on the way is +0. */
static float above(float y, int n)
{
    for (; n > 0; n--)
        y = nextafterf(y, INFINITY);
    for (; n < 0; n++)
        y = nextafterf(y, -INFINITY);
    return y == 0 ? 0 : y;
}

enum { EX2_FIRST = 0x3F7FF000, EX2_COUNT = 1 << 13, LG2_COUNT = 1 << 12, TANH_COUNT = 1 << 10, TINY = 16 };
#define EX2_NEGATIVE UINT64_C(0xC0000000) /* -2 */
#define LG2_FIRST UINT64_C(0x3F7FF800)    /* around 1, where lg2 has no relative accuracy */
#define TANH_FIRST UINT64_C(0x3F000000)
#define LG2_NEGATIVE UINT64_C(0x3E800000) /* 1/4 and up: results of -2 and up */
#define TANH_TINY UINT64_C(1)             /* the smallest floats: steps lead across 0 */

static int8_t ex2_steps[2][EX2_COUNT], rcp_steps[1 << 23];
static uint32_t lg2_results[LG2_COUNT];
static int16_t tanh_steps[TANH_COUNT], tiny_steps[TINY];
static int8_t lg2_steps[LG2_COUNT];

static void draw_entries(void)
{
    uint64_t seed = 7;
    for (int n = 0; n < 2 * EX2_COUNT; n++)
        ex2_steps[n / EX2_COUNT][n % EX2_COUNT] = (int8_t)(random_bits(&seed) % 5 - 2);
    ex2_steps[0][0] = -128;
    ex2_steps[1][EX2_COUNT - 1] = 127;
    for (int n = 0; n < LG2_COUNT; n++)
        lg2_results[n] = bits_of((float)(1e-4 * (random_unit(&seed) - 0.5)));
    for (int n = 0; n < TANH_COUNT; n++)
        tanh_steps[n] = (int16_t)(random_bits(&seed) % 16384 - 8192);
    for (int n = 0; n < LG2_COUNT; n++)
        lg2_steps[n] = (int8_t)(random_bits(&seed) % 256 - 128);
    for (int n = 0; n < TINY; n++)
        tiny_steps[n] = (int16_t)(-2 * n);
    for (int n = 0; n < 1 << 23; n++)
        rcp_steps[n] = (int8_t)(random_bits(&seed) % 3 - 1);
}

static const struct special_table *whole_table(void)
{
    static const struct special_table *t;
    if (t != NULL)
        return t;
    draw_entries();
    struct maker m = maker_new(7);
    add_section(&m, "ex2", TABLE_RANGE, 1, 0, EX2_FIRST, EX2_COUNT, ex2_steps[0]);
    add_section(&m, "ex2", TABLE_RANGE, 1, 0, EX2_NEGATIVE, EX2_COUNT, ex2_steps[1]);
    add_section(&m, "lg2", TABLE_RANGE, 4, 0, LG2_FIRST, LG2_COUNT, lg2_results);
    add_section(&m, "rcp", TABLE_FRACTION, 1, 0, 0, 1 << 23, rcp_steps);
    add_section(&m, "tanh", TABLE_RANGE, 2, 0, TANH_FIRST, TANH_COUNT, tanh_steps);
    add_section(&m, "lg2", TABLE_RANGE, 1, 0, LG2_NEGATIVE, LG2_COUNT, lg2_steps);
    add_section(&m, "tanh", TABLE_RANGE, 2, 0, TANH_TINY, TINY, tiny_steps);
    return t = written(&m, "whole.tab");
}

/* What the entries say about fn(x). */
static float wanted(enum function fn, float x)
{
    uint64_t bits = bits_of(x);
    float y = rounded(fn, x);
    int exponent;
    if (isnan(x))
        return float_of(0x7FC00000);
    if (fn == FUNCTION_EXP2 && bits - EX2_FIRST < EX2_COUNT)
        return above(y, ex2_steps[0][bits - EX2_FIRST]);
    if (fn == FUNCTION_EXP2 && bits - EX2_NEGATIVE < EX2_COUNT)
        return above(y, ex2_steps[1][bits - EX2_NEGATIVE]);
    if (fn == FUNCTION_LOG2 && bits - LG2_FIRST < LG2_COUNT)
        return float_of(lg2_results[bits - LG2_FIRST]);
    if (fn == FUNCTION_TANH && bits - TANH_FIRST < TANH_COUNT)
        return above(y, tanh_steps[bits - TANH_FIRST]);
    if (fn == FUNCTION_LOG2 && bits - LG2_NEGATIVE < LG2_COUNT)
        return above(y, lg2_steps[bits - LG2_NEGATIVE]);
    if (fn == FUNCTION_TANH && bits - TANH_TINY < TINY)
        return above(y, tiny_steps[bits - TANH_TINY]);
    if (fn != FUNCTION_RCP || x == 0 || isinf(x))
        return y;
    double m = 2 * frexp(fabs((double)x), &exponent); /* |x| = m 2^(exponent - 1) */
    uint32_t fraction = bits_of((float)m) & 0x7FFFFF;
    return copysignf((float)ldexp(above((float)(1 / m), rcp_steps[fraction]), 1 - exponent), x);
}

static bool same(float a, float b)
{
    return bits_of(a) == bits_of(b);
}

static const float corners[] = {0, -0.0f, 1, -1, 2, 0.5f, 3, -3, 0x1p-149f, -0x1p-140f, 0x1p-126f,
                                0x1.fffffep127f, 0x1.8p127f, -0x1.4p126f, INFINITY, -INFINITY, NAN};

static void entries_as_they_stand(void **unused)
{
    (void)unused;
    static const enum function all[] = {FUNCTION_EXP2, FUNCTION_LOG2, FUNCTION_RCP, FUNCTION_TANH};
    static const uint64_t ranges[] = {EX2_FIRST, EX2_NEGATIVE, LG2_FIRST, TANH_FIRST,
                                      LG2_NEGATIVE, TANH_TINY};
    struct special_choice c = {SPECIAL_TABLE, whole_table()};
    int checked = 0;
    for (size_t f = 0; f < COUNT(all); f++)
        for (size_t r = 0; r <= COUNT(ranges); r++)
            for (int n = -40; n < EX2_COUNT + 40; n++) {
                bool corner = r == COUNT(ranges);
                if (corner && (n < 0 || n >= (int)COUNT(corners)))
                    continue;
                float x = corner ? corners[n] : float_of((uint32_t)(ranges[r] + (uint64_t)(int64_t)n));
                float y, want = wanted(all[f], x);
                special_float(c, all[f], &y, &x, 1);
                checked++;
                if (!same(y, want))
                    fail_msg("function %d of %a (%08x): %08x, the table has %08x", all[f], x,
                             bits_of(x), bits_of(y), bits_of(want));
            }
    printf("# note %d results of a table, bit for bit\n", checked);
}

/* Blocks: the same as one by one, in place too. */
static void blocks(void **unused)
{
    (void)unused;
    enum { N = 1000 };
    float x[N], y[N], one;
    struct special_choice c = {SPECIAL_TABLE, whole_table()};
    for (int n = 0; n < N; n++)
        x[n] = float_of((uint32_t)EX2_FIRST + 9 * (uint32_t)n);
    special_float(c, FUNCTION_EXP2, y, x, N);
    for (int n = 0; n < N; n++) {
        special_float(c, FUNCTION_EXP2, &one, &x[n], 1);
        assert_true(same(one, y[n]));
    }
    special_float(c, FUNCTION_EXP2, x, x, N);
    assert_memory_equal(x, y, sizeof x);
}

/* e^x = ex2(rn(x log2 e)) and ln x = rn(lg2(x) ln 2), log2 e = 3FB8AA3B, ln 2 = 3F317218. */
static void by_instructions(void **unused)
{
    (void)unused;
    const float log2e = float_of(0x3FB8AA3B), ln2 = float_of(0x3F317218);
    struct special_choice table = {SPECIAL_TABLE, whole_table()}, ex2 = {SPECIAL_EX2, NULL};
    struct special_choice fa4 = {SPECIAL_FA4, NULL};
    for (int n = 0; n < 4000; n++) {
        float x = -1.4f + 0.0002f * (float)n, y, power, positive = fabsf(x) + 0.9999f;
        special_float(table, FUNCTION_EXP, &y, &x, 1);
        assert_true(same(y, wanted(FUNCTION_EXP2, x * log2e)));
        special_float(table, FUNCTION_LOG, &y, &positive, 1);
        assert_true(same(y, wanted(FUNCTION_LOG2, positive) * ln2));
        special_float(ex2, FUNCTION_EXP, &y, &x, 1);
        assert_true(same(y, rounded(FUNCTION_EXP2, x * log2e)));
        special_float(fa4, FUNCTION_EXP, &y, &x, 1);
        x *= log2e;
        special_float(fa4, FUNCTION_EXP2, &power, &x, 1);
        assert_true(same(y, power));
    }
    assert_true(special_is_cr(ex2, FUNCTION_EXP2) && special_is_cr(ex2, FUNCTION_LOG));
    assert_true(special_is_cr(fa4, FUNCTION_TANH) && special_is_cr(fa4, FUNCTION_RCP));
    assert_true(special_is_cr((struct special_choice){SPECIAL_POLY, NULL}, FUNCTION_RCP));
}

/* FlashAttention-4's steps with exact products: each fma by MPFR, the integer into the exponent. */
static float fa4_by_hand(float x)
{
    static const double c[] = {1, 0.695146143436431884765625, 0.227564394474029541015625,
                               0.077119089663028717041015625};
    double clamped = x < -127 ? -127 : x, whole = floor(clamped);
    float f = (float)(clamped - whole), p = (float)c[3];
    mpfr_t t;
    mpfr_init2(t, 200);
    for (int i = 2; i >= 0; i--) {
        mpfr_set_flt(t, p, MPFR_RNDN);
        mpfr_mul_d(t, t, f, MPFR_RNDN);
        mpfr_add_d(t, t, c[i], MPFR_RNDN);
        p = mpfr_get_flt(t, MPFR_RNDN);
    }
    mpfr_clear(t);
    return float_of(bits_of(p) + ((uint32_t)(int)whole << 23));
}

static void flash_attention_4(void **unused)
{
    (void)unused;
    struct special_choice c = {SPECIAL_FA4, NULL};
    uint64_t seed = 3;
    double worst = 0;
    for (int n = 0; n < 200000; n++) {
        float x = (float)(random_unit(&seed) * 290 - 160), y;
        if (n % 3 == 0)
            x = float_of((uint32_t)random_bits(&seed));
        if (!(x < 128))
            continue;
        special_float(c, FUNCTION_EXP2, &y, &x, 1);
        if (!same(y, fa4_by_hand(x)))
            fail_msg("fa4: 2^%a is %08x, by hand %08x", x, bits_of(y), bits_of(fa4_by_hand(x)));
        if (x >= -126)
            worst = fmax(worst, fabs(y / exp2(x) - 1));
    }
    assert_true(worst > 0x1p-14 && worst < 0x1p-13); /* a polynomial of degree 3: 8.8e-5 */
    static const struct {
        float x;
        uint32_t y;
    } rows[] = {{0, 0x3F800000}, {-1, 0x3F000000}, {-127, 0}, {-INFINITY, 0}, {10, 0x44800000},
                {128, 0x7F800000}, {1e30f, 0x7F800000}, {INFINITY, 0x7F800000}, {NAN, 0x7FC00000}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        float y;
        special_float(c, FUNCTION_EXP2, &y, &rows[i].x, 1);
        assert_int_equal(bits_of(y), rows[i].y);
    }
}

/* The flag .ftz: subnormal inputs are zeros of their sign, so are subnormal results. */
static void flushed(void **unused)
{
    (void)unused;
    static const int8_t zeros[1 << 23];
    static const uint32_t half[] = {0x3F000000};
    struct maker m = maker_new(3);
    add_section(&m, "tanh", TABLE_RANGE, 4, TABLE_FTZ, 0, 1, half); /* of +0 alone */
    add_section(&m, "ex2", TABLE_RANGE, 1, TABLE_FTZ, 0xC2F00000, 1 << 20, zeros); /* from -120 */
    add_section(&m, "rcp", TABLE_FRACTION, 1, TABLE_FTZ, 0, 1 << 23, zeros);
    struct special_choice c = {SPECIAL_TABLE, written(&m, "ftz.tab")};
    static const struct {
        enum function fn;
        float x, y;
    } rows[] = {{FUNCTION_EXP2, -126, 0x1p-126f},      {FUNCTION_EXP2, -127, 0},
                {FUNCTION_RCP, 0x1p-127f, INFINITY},   {FUNCTION_RCP, -0x1p-140f, -INFINITY},
                {FUNCTION_RCP, -0x1p127f, -0.0f},      {FUNCTION_RCP, 0x1p126f, 0x1p-126f},
                {FUNCTION_RCP, 0x1.000002p126f, 0},    {FUNCTION_EXP2, 0x1p-140f, 1},
                {FUNCTION_TANH, 0x1p-140f, 0.5f},      {FUNCTION_TANH, 0x1p-126f, 0x1p-126f}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        float y;
        special_float(c, rows[i].fn, &y, &rows[i].x, 1);
        if (!same(y, rows[i].y))
            fail_msg("row %d: %a, want %a", (int)i, y, rows[i].y);
    }
    assert_true(special_is_cr(c, FUNCTION_LOG2) && special_is_cr(c, FUNCTION_LOG));
    assert_string_equal(special_words(c).text, "ex2, rcp and tanh table:ftz.tab, rest cr");
}

/* In a site of fp32 or narrower every arithmetic uses the table, once, and rounds once more; wider
   ones do not know it. */
static void arithmetics(void **unused)
{
    (void)unused;
    static const struct {
        const char *arith;
        enum format f;
    } rows[] = {{"float", FORMAT_FP32},  {"float", FORMAT_BF16},  {"double", FORMAT_FP32},
                {"double", FORMAT_BF16}, {"double", FORMAT_FP64}, {"mpfr", FORMAT_FP32},
                {"mpfr", FORMAT_BF16},   {"mpfr", FORMAT_FP64}};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int n = 0; n < 64; n++) {
            struct message why;
            struct run r;
            struct policy p = policy_table(POLICY_FP32);
            p.special = (struct special_choice){SPECIAL_TABLE, whole_table()};
            p.site[SITE_EXP].format = rows[i].f;
            assert_true(run_new(&r, arithmetic_named(rows[i].arith, &why), &p, 53, &why));
            struct tile *x = tile_new(&r, TENSOR_SCRATCH, 1, 1), *y = tile_new(&r, TENSOR_SCRATCH, 1, 1);
            float in = float_of((uint32_t)EX2_FIRST + 101 * (uint32_t)n);
            double wide[2];
            r.arith->set(x->data, 0, in);
            exp2_(&r, y, x, SITE_EXP);
            wide[0] = tile_get(&r, y, 0, 0);
            rcp(&r, y, x, SITE_EXP);
            wide[1] = tile_get(&r, y, 0, 0);
            run_free(&r);
            bool fp64 = rows[i].f == FORMAT_FP64;
            double want[2] = {fp64 ? exp2((double)in) : wanted(FUNCTION_EXP2, in),
                              fp64 ? 1 / (double)in : wanted(FUNCTION_RCP, in)};
            for (int k = 0; k < 2; k++) {
                double right = format_round(rows[i].f, want[k], false);
                if (fp64 ? fabs(wide[k] / right - 1) > 0x1p-52 : wide[k] != right)
                    fail_msg("%s, %s, %s of %a: %a, want %a", rows[i].arith,
                             format_info(rows[i].f)->name, k == 0 ? "ex2" : "rcp", in, wide[k], right);
            }
        }
}

/* One change of a small good file: bytes at an offset, or another size; the sentence. */
static const struct damage {
    const char *what;
    int offset, bytes;
    uint64_t value;
    long size; /* of the file; 0: unchanged */
    bool hashed; /* its checksum made right again */
    const char *why;
} damages[] = {
    {"empty", 0, 0, 0, -1, false, "bad.tab has 0 bytes; a table of special functions has 256 and more"},
    {"short", 0, 0, 0, 200, false, "bad.tab has 200 bytes; a table of special functions has 256 and more"},
    {"cut off", 0, 0, 0, 400, false,
     "bad.tab has 400 bytes and says it has 1376: it was cut off, or something was added"},
    {"added to", 0, 0, 0, 1400, false,
     "bad.tab has 1400 bytes and says it has 1376: it was cut off, or something was added"},
    {"magic", 0, 1, 'X', 0, true,
     "bad.tab is no table of special functions: it does not begin with ULPTABLE"},
    {"version", 8, 4, 2, 0, true, "bad.tab: version 2 of the table format; version 1 is read here"},
    {"no sections", 12, 4, 0, 0, true,
     "bad.tab says it has 0 sections; 1 to 64 that it has room for are right"},
    {"sections beyond the file", 12, 4, 60, 0, true,
     "bad.tab says it has 60 sections; 1 to 64 that it has room for are right"},
    {"one entry", 1000, 1, 77, 0, false, NULL},
    {"device unprintable", 80, 1, 7, 0, true,
     "bad.tab: architecture, device and driver are to be printable ASCII with zeros behind"},
    {"driver without an end", 207, 1, 'x', 0, true,
     "bad.tab: architecture, device and driver are to be printable ASCII with zeros behind"},
    {"function", 256, 3, 'n' << 16 | 'i' << 8 | 's', 0, true,
     "bad.tab: section 0 is of no function known here: ex2, lg2, rcp or tanh"},
    {"layout", 264, 4, 3, 0, true, "bad.tab: section 0 has layout 3; 1 or 2 is right"},
    {"fractions of ex2", 264, 4, 2, 0, true,
     "bad.tab: section 0: an entry for each of the 2^23 fractions of x is a layout of rcp alone"},
    {"entry", 268, 4, 8, 0, true, "bad.tab: section 0 has entries of kind 8; 1, 2 or 4 is right"},
    {"wider entries", 268, 4, 4, 0, true, "bad.tab: section 0 (ex2) does not lie inside the file"},
    {"flags", 272, 4, 2, 0, true, "bad.tab: section 0 has flags 2; 0 or 1 is right"},
    {"first input", 280, 8, UINT64_C(1) << 32, 0, true,
     "bad.tab: section 0: inputs 4294967296 and 1024 after it are no range of 32 bits"},
    {"too many inputs", 288, 8, UINT64_MAX - 1024, 0, true,
     "bad.tab: section 0: inputs 1065353216 and 18446744073709550591 after it are no range of 32 bits"},
    {"no inputs", 288, 8, 0, 0, true,
     "bad.tab: section 0: inputs 1065353216 and 0 after it are no range of 32 bits"},
    {"more entries than bytes", 288, 8, 1025, 0, true,
     "bad.tab: section 0 (ex2) does not lie inside the file"},
    {"offset", 296, 8, UINT64_MAX - 7, 0, true,
     "bad.tab: section 0 (ex2) does not lie inside the file"},
    {"offset in the header", 296, 8, 256, 0, true,
     "bad.tab: section 0 (ex2) does not lie inside the file"},
    {"odd offset", 296, 8, 353, 0, true, "bad.tab: section 0 (ex2) does not lie inside the file"},
    {"twice", 304, 3, '2' << 16 | 'x' << 8 | 'e', 0, true,
     "bad.tab: sections 0 and 1 give ex2 twice for the same inputs"},
};

static void refused(void **unused)
{
    (void)unused;
    static const int8_t zeros[1024];
    for (size_t i = 0; i < COUNT(damages); i++) {
        const struct damage *d = &damages[i];
        struct maker m = maker_new(2);
        struct message why = {""};
        add_section(&m, "ex2", TABLE_RANGE, 1, 0, 0x3F800000, 1024, zeros);
        add_section(&m, "lg2", TABLE_RANGE, 1, 0, 0x3F800200, 0, zeros);
        put(m.bytes + TABLE_HEADER_BYTES + TABLE_SECTION_BYTES + 32, 512, 8); /* shares the bytes */
        put(m.bytes + TABLE_HEADER_BYTES + TABLE_SECTION_BYTES + 40, 352, 8);
        finish(&m);
        assert_int_equal(m.size, 1376);
        unsigned char bytes[2048] = {0};
        memcpy(bytes, m.bytes, m.size);
        put(bytes + d->offset, d->value, d->bytes);
        if (d->hashed)
            put_hash(bytes, m.size);
        folder_put("bad.tab", bytes, d->size == 0 ? m.size : d->size < 0 ? 0 : (size_t)d->size);
        if (special_table_open("bad.tab", &why) != NULL)
            fail_msg("%s is taken; expected: %s", d->what, d->why);
        if (d->why != NULL)
            assert_string_equal(why.text, d->why);
        else if (strstr(why.text, "bad.tab: its checksum is ") != why.text)
            fail_msg("%s: %s", d->what, why.text);
        free(m.bytes);
    }
}

static void refused_by_policy(void **unused)
{
    (void)unused;
    struct policy p = policy_table(POLICY_FP32);
    struct message why;
    whole_table();
    assert_false(policy_special(&p, "table:", &why));
    assert_string_equal(why.text, "--special table: : No such file or directory");
    assert_false(policy_special(&p, "table:none.tab", &why));
    assert_string_equal(why.text, "--special table: none.tab: No such file or directory");
    assert_false(policy_special(&p, "table:.", &why));
    assert_string_equal(why.text, "--special table: . is no file that can be mapped");
    assert_false(policy_special(&p, "table", &why));
    assert_string_equal(why.text, "--special table: table:FILE is right, with the file that a GPU was "
                                  "probed into");
    assert_true(policy_special(&p, "table:whole.tab", &why));
    assert_true(p.special.table == whole_table());
    assert_string_equal(p.name, "fp32+");
    assert_string_equal(special_words(p.special).text, "ex2, lg2, rcp and tanh table:whole.tab");
}

/* All of ex2: 2^32 entries of 0, a file with a hole. */
static void whole_function(void **unused)
{
    (void)unused;
    if (!full_proof())
        skip();
    struct maker m = maker_new(1);
    struct message why;
    const uint64_t size = (UINT64_C(1) << 32) + 304;
    static const unsigned char zeros[1 << 20];
    struct sha256 hash;
    add_section(&m, "ex2", TABLE_RANGE, 1, 0, 0, 0, zeros);
    put(m.bytes + TABLE_HEADER_BYTES + 32, UINT64_C(1) << 32, 8);
    put(m.bytes + 48, size, 8);
    sha256_start(&hash);
    sha256_add(&hash, m.bytes + TABLE_HASHED_FROM, m.size - TABLE_HASHED_FROM);
    for (int n = 0; n < 4096; n++)
        sha256_add(&hash, zeros, sizeof zeros);
    struct sha256_text text = sha256_end(&hash);
    for (int i = 0; i < 32; i++) {
        unsigned byte;
        sscanf(text.text + 2 * i, "%2x", &byte);
        m.bytes[16 + i] = (unsigned char)byte;
    }
    folder_put("full.tab", m.bytes, m.size);
    assert_int_equal(truncate("full.tab", (off_t)size), 0);
    clock_t start = clock();
    struct special_choice c = {SPECIAL_TABLE, special_table_open("full.tab", &why)};
    if (c.table == NULL)
        fail_msg("%s", why.text);
    printf("# note a table of 4 GiB is checked in %.1f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    for (int n = 0; n < 100000; n++) {
        float x = float_of((uint32_t)n * 42949u), y;
        special_float(c, FUNCTION_EXP2, &y, &x, 1);
        assert_true(same(y, rounded(FUNCTION_EXP2, x)));
    }
    free(m.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_as_they_stand), cmocka_unit_test(blocks),
        cmocka_unit_test(by_instructions),       cmocka_unit_test(flash_attention_4),
        cmocka_unit_test(flushed),               cmocka_unit_test(arithmetics),
        cmocka_unit_test(refused),               cmocka_unit_test(refused_by_policy),
        cmocka_unit_test(whole_function),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
