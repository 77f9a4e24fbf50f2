/* probe.c: `flashulp-gpu probe`: what the hardware computes where no source says.

   mma: random operands through one tensor-core instruction, against every unit of mma.def.  ex2,
   lg2, rcp: the approximate function of every input, as a table that --special table:FILE loads
   (simulator/special_table.h). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/emulator/device.h"
#include "gpu/gpu.h"
#include "reference/sha256.h"
#include "reference/tensor.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"
#include "simulator/mma.h"
#include "simulator/scenario_parts.h"
#include "simulator/special.h"
#include "simulator/special_table.h"

enum { ROWS = 4096, DEPTH = 16 };

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Operands of ROWS instructions. */
struct operands {
    uint16_t a[ROWS][DEPTH], b[ROWS][DEPTH];
    float c[ROWS], d[ROWS];
};

/* Exponents within 2^8 of one another, so that alignment and truncation show; one row in 16 has any
   bits at all, NaN and infinities among them; one number in 32 is zero. */
static uint16_t operand(enum format f, bool any, uint64_t *state)
{
    uint64_t bits = draw(state);
    double x = ldexp(1 + (double)(bits & 1023) / 1024, (int)(bits >> 16 & 7) - 4);
    if (any)
        return (uint16_t)bits;
    if ((bits >> 32 & 31) == 0)
        return (uint16_t)(bits >> 8 & 0x8000);
    return (uint16_t)format_encode(f, format_round(f, bits >> 40 & 1 ? x : -x, true));
}

static void draw_operands(struct operands *o, enum format f)
{
    uint64_t state = f == FORMAT_FP16 ? 16 : 8;
    for (int n = 0; n < ROWS; n++) {
        bool any = n % 16 == 15;
        for (int k = 0; k < DEPTH; k++) {
            o->a[n][k] = operand(f, any, &state);
            o->b[n][k] = operand(f, any, &state);
        }
        uint64_t bits = draw(&state);
        float c = ldexpf((float)(int64_t)(bits << 32 >> 32) - 0x1p31f, (int)(bits >> 60) - 40);
        o->c[n] = n % 3 == 0 ? 0.0f : c;
    }
}

static bool run_rows(struct operands *o, bool half, struct message *why)
{
    size_t words = sizeof o->a, floats = sizeof o->c;
    void *a = dev_alloc(words), *b = dev_alloc(words), *c = dev_alloc(floats),
         *d = dev_alloc(floats);
    bool ok = a != NULL && b != NULL && c != NULL && d != NULL;
    if (!ok)
        return refuse(why, "no memory for %d rows", ROWS);
    dev_copy_in(a, o->a, words);
    dev_copy_in(b, o->b, words);
    dev_copy_in(c, o->c, floats);
    gpu_mma_probe((struct probe_args){.a = a, .b = b, .c = c, .d = d, .count = ROWS, .half = half});
    ok = target_finish(why);
    dev_copy_out(o->d, d, floats);
    dev_free(a);
    dev_free(b);
    dev_free(c);
    dev_free(d);
    return ok;
}

static uint32_t canonical_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return x != x ? 0x7FC00000u : bits;
}

/* What an order's unit makes of row n. */
static float model(const struct mma *m, const struct operands *o, int n, enum format f)
{
    struct mma_step s =
        mma_step_of(m, (struct mma_factor){f, 0}, (struct mma_factor){f, 0}, FORMAT_FP32);
    float a[DEPTH], b[DEPTH], sum = o->c[n];
    for (int k = 0; k < DEPTH; k++) {
        a[k] = (float)format_decode(f, o->a[n][k]);
        b[k] = (float)format_decode(f, o->b[n][k]);
    }
    for (int k = 0; k < DEPTH; k += s.L)
        sum = mma_dot_add(&s, a + k, b + k, DEPTH - k < s.L ? DEPTH - k : s.L, sum);
    return sum;
}

/* How many rows a unit's model gives other bits than were measured. */
static void judge_unit(const struct operands *o, enum format f, const char *order, bool silent,
                       struct json *units)
{
    struct message why;
    const struct mma *m = mma_parse(order, &why);
    int differ = 0;
    if (m == NULL || !mma_takes(m->info, f))
        return;
    for (int n = 0; n < ROWS; n++)
        differ += canonical_bits(model(m, o, n, f)) != canonical_bits(o->d[n]);
    struct json *unit = json_object(units, NULL);
    json_string(unit, "order", order);
    json_whole(unit, "differ", differ);
    if (!silent)
        printf("  %-28s %5d of %d rows differ\n", order, differ, ROWS);
}

static uint64_t digest_of(const struct operands *o)
{
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    for (int n = 0; n < ROWS; n++)
        for (int byte = 0; byte < 4; byte++)
            digest =
                (digest ^ (canonical_bits(o->d[n]) >> 8 * byte & 255)) * UINT64_C(0x100000001B3);
    return digest;
}

static bool probe_format(const struct gpu_words *w, enum format f, struct json *formats,
                         struct message *why)
{
    struct operands *o = malloc(sizeof *o);
    char text[24];
    if (o == NULL)
        abort();
    draw_operands(o, f);
    bool ok = target_configure(&w->target, why) && run_rows(o, f == FORMAT_FP16, why);
    struct json *j = ok ? json_object(formats, NULL) : NULL;
    if (ok) {
        snprintf(text, sizeof text, "%016" PRIx64, digest_of(o));
        json_string(j, "format", format_info(f)->name);
        json_string(j, "digest", text);
        json_whole(j, "rows", ROWS);
        if (!w->json)
            printf("%s, mma.sync m16n8k16: digest %s\n", format_info(f)->name, text);
    }
    struct json *units = ok ? json_list(j, "units") : NULL;
    for (int u = 0; u < MMA_UNITS && ok; u++) {
        char order[48];
        snprintf(order, sizeof order, "mma@%s", mma_unit_name((enum mma_unit)u));
        judge_unit(o, f, order, w->json, units);
    }
    free(o);
    return ok;
}

static int probe_mma(const struct gpu_words *w)
{
    struct message why;
    struct scenario none = {.verb = "gpu"};
    struct report r;
    report_new(&r, &none);
    gpu_add_target(r.json);
    if (!w->json)
        printf("on %s\n", target_name());
    if (!w->json && target_is_emulator())
        printf("no GPU was asked: the emulator's sums are %s\n",
               w->unit != NULL ? w->unit : "fp32 chains (--accumulate A100, H100)");
    struct json *formats = json_list(r.json, "formats");
    bool ok =
        probe_format(w, FORMAT_BF16, formats, &why) && probe_format(w, FORMAT_FP16, formats, &why);
    if (ok && w->json)
        gpu_print_json(&r);
    report_free(&r);
    return ok ? 0 : gpu_refused("probe", &why);
}

/* A table to be written: of which inputs, where. */
struct table {
    enum probe_function function;
    uint64_t first, count;
    const char *path;
};

static void put_number(unsigned char *to, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(x >> 8 * i);
}

/* The correctly rounded result, subnormals flushed as .ftz does. */
static void right_results(enum probe_function fn, float *y, const float *x, size_t n)
{
    if (fn != PROBE_RCP) {
        special_cr(fn == PROBE_EX2 ? FUNCTION_EXP2 : FUNCTION_LOG2, FORMAT_FP32_FTZ, false, y, x,
                   n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        float in = fabsf(x[i]) < 0x1p-126f ? copysignf(0, x[i]) : x[i], out = 1.0f / in;
        y[i] = fabsf(out) < 0x1p-126f ? copysignf(0, out) : out;
    }
}

/* Steps between two floats, the zeros one place. */
static int64_t steps(float from, float to)
{
    return from != from || to != to ? 0 : format_steps(FORMAT_FP32_FTZ, from, to);
}

/* A chunk of the table: results as steps; false when one does not fit a byte. */
static bool table_chunk(const struct table *t, uint64_t first, size_t n, float *device, float *got,
                        float *right, signed char *entry, struct message *why)
{
    float *x = right + n;
    gpu_function_probe((struct probe_args){
        .d = device, .count = (int64_t)n, .function = t->function, .first = (uint32_t)first});
    if (!target_finish(why))
        return false;
    dev_copy_out(got, device, n * sizeof *got);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)(first + i);
        memcpy(&x[i], &bits, sizeof bits);
    }
    right_results(t->function, right, x, n);
    for (size_t i = 0; i < n; i++) {
        int64_t s = steps(right[i], got[i]);
        if (s < -127 || s > 127)
            return refuse(why,
                          "input 0x%08X: %lld steps from the correct rounding; a byte holds 127",
                          (unsigned)(first + i), (long long)s);
        entry[i] = (signed char)s;
    }
    return true;
}

static void table_header(const struct table *t,
                         unsigned char header[TABLE_HEADER_BYTES + TABLE_SECTION_BYTES])
{
    static const char *const names[] = {"ex2", "lg2", "rcp"};
    unsigned char *section = header + TABLE_HEADER_BYTES;
    memset(header, 0, TABLE_HEADER_BYTES + TABLE_SECTION_BYTES);
    memcpy(header, TABLE_MAGIC, 8);
    put_number(header + 8, TABLE_VERSION, 4);
    put_number(header + 12, 1, 4);
    put_number(header + 48, TABLE_HEADER_BYTES + TABLE_SECTION_BYTES + t->count, 8);
    snprintf((char *)header + 64, 16, "%s", target_unit() != NULL ? target_unit() : "none");
    snprintf((char *)header + 80, 64, "%.63s", target_name());
    snprintf((char *)header + 144, 64, "%.63s",
             target_is_emulator() ? "no GPU was probed" : "flashulp-gpu probe");
    memcpy(section, names[t->function], 3);
    put_number(section + 8, TABLE_RANGE, 4);
    put_number(section + 12, 1, 4);
    put_number(section + 16, TABLE_FTZ, 4);
    put_number(section + 24, t->first, 8);
    put_number(section + 32, t->count, 8);
    put_number(section + 40, TABLE_HEADER_BYTES + TABLE_SECTION_BYTES, 8);
}

/* Everything behind the header, hashed as it goes; the header last, at the file's beginning. */
static bool write_entries(const struct table *t, FILE *file, struct message *why)
{
    enum { CHUNK = 1 << 22 };
    unsigned char header[TABLE_HEADER_BYTES + TABLE_SECTION_BYTES];
    struct sha256 hash;
    float *device = dev_alloc(CHUNK * sizeof *device),
          *room = malloc(3 * (size_t)CHUNK * sizeof *room);
    signed char *entry = malloc(CHUNK);
    bool ok = device != NULL && room != NULL && entry != NULL;
    if (!ok)
        refuse(why, "no memory");
    table_header(t, header);
    sha256_start(&hash);
    sha256_add(&hash, header + TABLE_HASHED_FROM, sizeof header - TABLE_HASHED_FROM);
    ok = ok && fwrite(header, sizeof header, 1, file) == 1;
    for (uint64_t done = 0; ok && done < t->count; done += CHUNK) {
        size_t n = t->count - done < CHUNK ? (size_t)(t->count - done) : CHUNK;
        ok = table_chunk(t, t->first + done, n, device, room, room + CHUNK, entry, why);
        if (!ok)
            break;
        sha256_add(&hash, entry, n);
        ok = fwrite(entry, 1, n, file) == n || refuse(why, "%s: cannot be written", t->path);
    }
    struct sha256_text text = sha256_end(&hash);
    for (int i = 0; i < 32; i++) {
        unsigned byte = 0;
        sscanf(text.text + 2 * i, "%2x", &byte);
        header[16 + i] = (unsigned char)byte;
    }
    ok = ok && ((fseek(file, 0, SEEK_SET) == 0 && fwrite(header, sizeof header, 1, file) == 1) ||
                refuse(why, "%s: cannot be written", t->path));
    if (device != NULL)
        dev_free(device);
    free(room);
    free(entry);
    return ok;
}

static bool read_table(const struct gpu_words *w, struct table *t, bool *force, struct message *why)
{
    int64_t x;
    *t = (struct table){.count = UINT64_C(1) << 32};
    for (int i = 1; i < w->count; i++) {
        const char *value = i + 1 < w->count ? w->rest[i + 1] : NULL;
        if (strcmp(w->rest[i], "--force") == 0) {
            *force = true;
            continue;
        }
        if (value == NULL)
            return refuse(why, "%s needs a value", w->rest[i]);
        if (strcmp(w->rest[i], "-o") == 0) {
            t->path = value;
        } else if (strcmp(w->rest[i], "--first") == 0) {
            if (!parse_integer("--first", value, 0, UINT32_MAX, &x, why))
                return false;
            t->first = (uint64_t)x;
        } else if (strcmp(w->rest[i], "--count") == 0) {
            if (!parse_integer("--count", value, 1, INT64_C(1) << 32, &x, why))
                return false;
            t->count = (uint64_t)x;
        } else {
            return refuse(why, "%.40s: -o FILE, --first N, --count N and --force are all it takes",
                          w->rest[i]);
        }
        i++;
    }
    if (t->path == NULL)
        return refuse(why, "-o FILE is missing: where the table goes");
    if (t->count > (UINT64_C(1) << 32) - t->first)
        t->count = (UINT64_C(1) << 32) - t->first;
    if (target_is_emulator() && t->count > 1 << 20)
        return refuse(
            why, "the emulator has no such instruction, only a stand-in whose bits say nothing: "
                 "run this where a GPU is (make gpu), or try the format with --count 1000");
    return true;
}

static int probe_table(const struct gpu_words *w, enum probe_function fn)
{
    struct table t;
    struct message why;
    struct output_file file;
    bool force = false;
    if (w->json) {
        refuse(&why, "--json goes with mma; a table is written to -o FILE");
        return gpu_refused("probe", &why);
    }
    if (!read_table(w, &t, &force, &why) || !target_configure(&w->target, &why) ||
        !file_begin(&file, t.path, force, &why))
        return gpu_refused("probe", &why);
    t.function = fn;
    if (!write_entries(&t, file.stream, &why)) {
        file_abandon(&file);
        return gpu_refused("probe", &why);
    }
    if (!file_commit(&file, &why))
        return gpu_refused("probe", &why);
    printf("%s: %s of %" PRIu64 " inputs on %s\n", t.path, w->rest[0], t.count, target_name());
    return 0;
}

int verb_probe(int argc, char **argv)
{
    static const char *const functions[] = {"ex2", "lg2", "rcp"};
    struct gpu_words w;
    struct message why;
    if (!gpu_words_read(&w, argc, argv, &why))
        return gpu_refused("probe", &why);
    if (w.count == 1 && strcmp(w.rest[0], "mma") == 0)
        return probe_mma(&w);
    for (int f = 0; f < PROBE_FUNCTIONS && w.count > 0; f++)
        if (strcmp(w.rest[0], functions[f]) == 0)
            return probe_table(&w, (enum probe_function)f);
    refuse(&why, "mma, or ex2, lg2 or rcp with -o FILE, is right");
    return gpu_refused("probe", &why);
}
