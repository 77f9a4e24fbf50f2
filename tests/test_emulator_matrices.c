/* test_emulator_matrices.c: the tensor core's instructions on the emulator: mma against the model's
   own steps and against chains of fmaf, bit for bit, at every processor level; which elements
   ldmatrix gives to which lane; how often it passes over the banks; cp.async and its groups; the
   conversions against format.h. */
#include <math.h>
#include <stdlib.h>

#include "reference/format.h"
#include "simulator/mma.h"
#include "simulator/round.h"
#include "tests/emulated/devices.h"

void run_mma(int bf16, float *d, const uint16_t *a, const uint16_t *b);
void run_copy_and_load(uint32_t *out, const uint16_t *in, int swizzle, int kind);
void run_groups(unsigned char *out, const unsigned char *in);
void run_conversions(float *x, uint16_t *bf16, uint16_t *f16, int n);

enum { M = 16, N = 8, K = 16 };

struct operands {
    uint16_t a[M * K], b[K * N];
    float d[M * N];
};

/* Exponents around 1, or raw bits. */
static void draw(struct operands *o, uint64_t *state, bool bf16, bool raw)
{
    for (int i = 0; i < M * K + K * N; i++) {
        uint64_t bits = splitmix(state);
        double x = ldexp((double)(bits >> 40) - 0x1p23, (int)(bits % 9) - 27);
        uint64_t near_one = format_encode(bf16 ? FORMAT_BF16 : FORMAT_FP16,
                                          format_round(bf16 ? FORMAT_BF16 : FORMAT_FP16, x, false));
        *(i < M * K ? &o->a[i] : &o->b[i - M * K]) = (uint16_t)(raw ? bits >> 48 : near_one);
    }
    for (int i = 0; i < M * N; i++) {
        uint64_t bits = splitmix(state);
        float x = raw ? float_of_bits((uint32_t)bits) : (float)ldexp((double)(bits >> 40), -24);
        o->d[i] = bits % 16 == 0 ? 0 : x;
    }
}

/* What the model makes of output (m, n); no model: a chain of fmaf. */
static float expected(const struct operands *o, const struct mma_step *step, bool bf16, int m,
                      int n)
{
    enum format f = bf16 ? FORMAT_BF16 : FORMAT_FP16;
    float a[K], b[K], d = o->d[m * N + n];
    for (int k = 0; k < K; k++) {
        a[k] = (float)format_decode(f, o->a[m * K + k]);
        b[k] = (float)format_decode(f, o->b[k * N + n]);
    }
    for (int k = 0; k < K && step == NULL; k++)
        d = fmaf(a[k], b[k], d);
    for (int k = 0; step != NULL && k < K; k += step->L)
        d = mma_dot_add(step, a + k, b + k, step->L, d);
    return d;
}

static void use_unit(const char *name, bool bf16, struct mma_step *step)
{
    struct message why;
    struct emulator_options options = emulator_defaults();
    options.mma = name == NULL ? NULL : mma_parse(name, &why);
    emulator_configure(&options);
    emulator_reset();
    const struct mma_factor factor = {bf16 ? FORMAT_BF16 : FORMAT_FP16, 0};
    if (name != NULL)
        *step = mma_step_of(options.mma, factor, factor, FORMAT_FP32);
}

static void compare(const struct operands *o, const float *got, const struct mma_step *step,
                    bool bf16, const char *name)
{
    for (int i = 0; i < M * N; i++) {
        float want = expected(o, step, bf16, i / N, i % N);
        bool both_nan = step == NULL && isnan(want) && isnan(got[i]);
        if (bits_of_float(want) != bits_of_float(got[i]) && !both_nan)
            fail_msg("%s, %s, output (%d, %d): %08x, expected %08x", name, bf16 ? "bf16" : "f16",
                     i / N, i % N, bits_of_float(got[i]), bits_of_float(want));
    }
}

static void mma_equals_its_model(void **state)
{
    static const char *const units[] = {NULL,       "mma@sm80",  "mma@sm90",
                                        "mma@sm89", "mma@sm100", "mma@sm90,zeros=counted"};
    uint64_t random = 1;
    (void)state;
    for (int u = 0; u < (int)(sizeof units / sizeof units[0]); u++)
        for (int draws = 0; draws < 400; draws++) {
            struct operands o;
            struct mma_step step;
            float got[M * N];
            bool bf16 = draws % 2 == 0;
            draw(&o, &random, bf16, draws % 8 >= 6);
            use_unit(units[u], bf16, &step);
            uint16_t *a = to_device(o.a, sizeof o.a), *b = to_device(o.b, sizeof o.b);
            float *d = to_device(o.d, sizeof o.d);
            run_mma(bf16, d, a, b);
            assert_silent();
            from_device(got, d, sizeof got);
            compare(&o, got, units[u] == NULL ? NULL : &step, bf16,
                    units[u] == NULL ? "fp32" : units[u]);
            dev_free(a);
            dev_free(b);
        }
}

/* in[row][column] = 64 row + column. */
static void ldmatrix_gives_rows_and_columns(void **state)
{
    static const struct row {
        int kind, matrices;
        bool transposed;
    } rows[] = {{0, 4, false}, {1, 4, true}, {2, 2, false}, {3, 2, true}};
    uint16_t in[32 * 64];
    uint32_t out[32 * 4];
    (void)state;
    for (int i = 0; i < 32 * 64; i++)
        in[i] = (uint16_t)i;
    for (int c = 0; c < 8; c++) {
        const struct row *row = &rows[c / 2];
        uint16_t *din = to_device(in, sizeof in);
        uint32_t *dout = empty_on_device(sizeof out);
        use_unit(NULL, true, NULL);
        run_copy_and_load(dout, din, c % 2, row->kind);
        assert_silent();
        from_device(out, dout, sizeof out);
        dev_free(din);
        const struct emulator_counters *count = emulator_counters();
        assert_int_equal(count->ldmatrix_ideal, row->matrices);
        assert_int_equal(count->ldmatrix_passes, row->matrices * (c % 2 == 1 ? 1 : 8));
        for (int n = 0; n < 32 * row->matrices; n++) {
            int lane = n % 32, i = n / 32, g = lane / 4, t = lane % 4;
            uint32_t low = (uint32_t)(row->transposed ? 64 * (8 * i + 2 * t) + 24 + g
                                                      : 64 * (8 * i + g) + 24 + 2 * t);
            uint32_t high = low + (row->transposed ? 64 : 1);
            assert_int_equal(out[lane * 4 + i], high << 16 | low);
        }
    }
}

static void copies_come_in_groups(void **state)
{
    unsigned char in[32], out[32 * 64];
    (void)state;
    for (int i = 0; i < 32; i++)
        in[i] = (unsigned char)(i + 1);
    for (int late = 0; late < 2; late++) {
        struct emulator_options options = emulator_defaults();
        options.late_copies = late;
        emulator_configure(&options);
        emulator_reset();
        unsigned char *din = to_device(in, sizeof in), *dout = empty_on_device(sizeof out);
        run_groups(dout, din);
        assert_silent();
        from_device(out, dout, sizeof out);
        dev_free(din);
        for (int i = 0; i < 32 * 64; i++) {
            int place = i % 32, arrived = place < 21 ? place + 1 : 0;
            bool under_way = late && i % 64 >= 16 && i % 64 < 32;
            assert_int_equal(out[i], under_way ? 0xFF : arrived);
        }
    }
}

static void conversions_round_once(void **state)
{
    enum { COUNT = 1 << 14 };
    static float x[COUNT];
    static uint16_t bf16[COUNT], f16[COUNT];
    uint64_t random = 7;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        uint32_t bits = (uint32_t)splitmix(&random);
        /* half of them in fp16's range, a quarter halfway between two bf16 or fp16 numbers */
        if (i % 2 == 0)
            bits = (bits & 0x807FFFFF) | (98 + bits % 48) << 23;
        if (i % 4 == 0)
            bits = (bits & (i % 8 == 0 ? 0xFFFF0000 : 0xFFFFE000)) | (i % 8 == 0 ? 0x8000 : 0x1000);
        x[i] = float_of_bits(bits);
    }
    float *dx = to_device(x, sizeof x);
    uint16_t *db = empty_on_device(sizeof bf16), *df = empty_on_device(sizeof f16);
    use_unit(NULL, true, NULL);
    run_conversions(dx, db, df, COUNT);
    from_device(bf16, db, sizeof bf16);
    from_device(f16, df, sizeof f16);
    dev_free(dx);
    for (int i = 0; i < COUNT; i++) {
        double b = format_round(FORMAT_BF16, (double)x[i], false);
        double f = format_round(FORMAT_FP16, (double)x[i], false);
        assert_int_equal(bf16[i], isnan(x[i]) ? 0x7FFF : format_encode(FORMAT_BF16, b));
        assert_int_equal(f16[i], isnan(x[i]) ? 0x7FFF : format_encode(FORMAT_FP16, f));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mma_equals_its_model), cmocka_unit_test(ldmatrix_gives_rows_and_columns),
        cmocka_unit_test(copies_come_in_groups), cmocka_unit_test(conversions_round_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
