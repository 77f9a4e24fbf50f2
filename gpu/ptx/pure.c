/* pure.c: opcodes.def as functions, and the search for one by its name. */
#include <math.h>
#include <string.h>

#include "gpu/ptx/parts.h"
#include "reference/format.h"

#define U32(x) ((uint32_t)(x))
#define S32(x) ((int32_t)(uint32_t)(x))
#define S64(x) ((int64_t)(x))
#define F(x) ptx_float(x)
#define BITS(x) ptx_bits(x)

/* A NaN loses to a number; +0 is larger than -0. */
static float larger(float x, float y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) ? y : x;
    if (x == y)
        return signbit(x) ? y : x;
    return x > y ? x : y;
}

static float flushed(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static uint64_t narrowed(enum format f, float x)
{
    return isnan(x) ? 0x7FFF : format_encode(f, format_round(f, x, false));
}

/* The low `length` bits of a, put into b from bit `at` on. */
static uint64_t bits_inserted(uint32_t a, uint32_t b, uint32_t at, uint32_t length)
{
    at &= 0xFF;
    length &= 0xFF;
    uint64_t field = (length > 31 ? UINT32_MAX : (UINT64_C(1) << length) - 1);
    if (at > 31)
        return b;
    return (uint32_t)((b & ~(field << at)) | (a & field) << at);
}

/* Of a source that is missing the first one stands for it. */
#define OPCODE(id, name, count, value)                                                             \
    static void id(uint64_t *result, const uint64_t *const *sources, uint32_t lanes)               \
    {                                                                                              \
        for (; lanes != 0; lanes &= lanes - 1) {                                                   \
            int lane = __builtin_ctz(lanes);                                                       \
            const uint64_t a = sources[0][lane], b = sources[count > 1][lane];                     \
            const uint64_t c = sources[count > 2 ? 2 : 0][lane];                                   \
            const uint64_t d = sources[count > 3 ? 3 : 0][lane];                                   \
            (void)b, (void)c, (void)d;                                                             \
            result[lane] = (uint64_t)(value);                                                      \
        }                                                                                          \
    }
#include "gpu/ptx/opcodes.def"
#undef OPCODE

/* Each source is one register; those of mov_two stand in braces. */
static bool has_shape(int sources, bool braces, const char *shape)
{
    if (braces)
        return strcmp(shape, "12") == 0;
    return strspn(shape, "1") == strlen(shape) && (int)strlen(shape) == 1 + sources;
}

ptx_function *ptx_pure(const char *text, const char *shape, const char **name)
{
    static const struct {
        const char *name;
        int sources;
        ptx_function *function;
    } rows[] = {
#define OPCODE(id, name, sources, value) {name, sources, id},
#include "gpu/ptx/opcodes.def"
#undef OPCODE
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, text) == 0 &&
            has_shape(rows[i].sources, rows[i].function == mov_two, shape)) {
            *name = rows[i].name;
            return rows[i].function;
        }
    return NULL;
}
