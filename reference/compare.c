/* compare.c: see compare.h.  Equal stretches are found by memcmp and only searched for NaN and
   infinities; the rest costs a few operations per element that differs. */
#include "reference/compare.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double log2e = 0x1.71547652b82fep+0;

static size_t width_of(enum format f)
{
    return (size_t)format_info(f)->bits / 8;
}

static uint64_t load(const unsigned char *at, size_t width)
{
    uint64_t code = 0;
    memcpy(&code, at, width);
    return code;
}

static double value_of(enum format f, uint64_t code)
{
    uint32_t word = (uint32_t)code;
    float narrow;
    double wide;
    if (f == FORMAT_FP64) {
        memcpy(&wide, &code, sizeof wide);
        return wide;
    }
    if (f != FORMAT_FP32 && f != FORMAT_BF16)
        return format_decode(f, code);
    word <<= f == FORMAT_BF16 ? 16 : 0;
    memcpy(&narrow, &word, sizeof narrow);
    return narrow;
}

void compare_decode(enum format f, const void *codes, int64_t count, double *values)
{
    const size_t width = width_of(f);
    for (int64_t i = 0; i < count; i++)
        values[i] = value_of(f, load((const unsigned char *)codes + (size_t)i * width, width));
}

int64_t compare_round(enum format from, enum format to, const void *codes, int64_t count,
                      void *rounded)
{
    const size_t width = width_of(from), narrow = width_of(to);
    int64_t changed = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = value_of(from, load((const unsigned char *)codes + (size_t)i * width, width));
        double y = format_round(to, x, false);
        uint64_t code = format_encode(to, y);
        changed += x != y && !isnan(x);
        memcpy((unsigned char *)rounded + (size_t)i * narrow, &code, narrow);
    }
    return changed;
}

enum format compare_format(enum format a, enum format b)
{
    return format_info(a)->precision < format_info(b)->precision ? a : b;
}

bool compare_start(struct comparison *c, enum format f, int rank, const int64_t *shape,
                   const struct compare_options *options, struct message *why)
{
    assert(0 <= rank && rank <= COMPARE_MAX_RANK);
    *c = (struct comparison){.format = f,
                             .options = *options,
                             .elements = 1,
                             .worst = -1,
                             .row = -1,
                             .base_alive = {true, true}};
    c->side[0].worst = c->side[1].worst = -1;
    c->has_infinity = format_info(f)->has_infinity;
    c->infinity = format_encode(f, c->has_infinity ? INFINITY : format_info(f)->largest);
    c->sign = UINT64_C(1) << (format_info(f)->bits - 1);
    for (int i = 0; i < rank; i++)
        c->elements *= shape[i];
    c->row_length = rank >= 2 && shape[rank - 1] > 0 ? shape[rank - 1] : 1;
    c->rows = c->elements / c->row_length;
    if (options->head_axis < 0 || c->elements == 0 ||
        shape[options->head_axis] > COMPARE_MOST_HEADS)
        return true;
    c->heads = shape[options->head_axis];
    c->head_stride = 1;
    for (int i = options->head_axis + 1; i < rank; i++)
        c->head_stride *= shape[i];
    c->head_differ = calloc((size_t)c->heads, sizeof *c->head_differ);
    return c->head_differ != NULL ? true : refuse(why, "no memory for %d heads", (int)c->heads);
}

void compare_free(struct comparison *c)
{
    free(c->head_differ);
    c->head_differ = NULL;
}

static bool is_nan(const struct comparison *c, uint64_t code)
{
    return (code & ~c->sign) > c->infinity;
}

static bool is_infinite(const struct comparison *c, uint64_t code)
{
    return c->has_infinity && (code & ~c->sign) == c->infinity;
}

/* Codes of one sign increase with the magnitude. */
static int64_t steps_between(const struct comparison *c, uint64_t got, uint64_t want)
{
    int64_t to = (int64_t)(got & ~c->sign), from = (int64_t)(want & ~c->sign);
    to = (got & c->sign) != 0 ? -to : to;
    from = (want & c->sign) != 0 ? -from : from;
    if (from < 0 && to > INT64_MAX + from)
        return INT64_MAX; /* fp64 alone has that many */
    if (from > 0 && to < -INT64_MAX + from)
        return -INT64_MAX;
    return to - from;
}

static void end_row(struct comparison *c)
{
    double mean = c->row_sum / (double)c->row_length;
    c->rows_sum += mean;
    c->rows_square += mean * mean;
    c->row_sum = 0;
}

/* The least r for which distance <= r |want| in double, the product being monotone in r: found by
   halving among the codes of the doubles up to a quotient that is surely enough. */
static double least_factor(double distance, double want)
{
    double r = distance / fabs(want) * (1 + 0x1p-50); /* infinite where want is 0 */
    uint64_t low = 0, high; /* low's r is too small */
    if (isinf(r))
        return INFINITY;
    memcpy(&high, &r, sizeof high);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        memcpy(&r, &middle, sizeof r);
        if (distance <= r * fabs(want))
            high = middle;
        else
            low = middle;
    }
    memcpy(&r, &high, sizeof r);
    return r;
}

static void add_steps(struct comparison *c, const struct difference *d)
{
    const struct compare_options *o = &c->options;
    double distance = fabs(d->got_value - d->want_value), factor;
    int64_t steps = d->steps < 0 ? -d->steps : d->steps;
    if (d->index / c->row_length != c->row) {
        end_row(c);
        c->row = d->index / c->row_length;
    }
    c->row_sum += (double)d->steps;
    c->sum_steps += (double)d->steps;
    c->differ += steps > 0;
    c->one_step += steps == 1;
    if (steps > 0)
        c->spread[d->steps > 0][64 - __builtin_clzll((unsigned long long)steps)]++;
    if (steps > c->max_steps) {
        c->max_steps = steps;
        c->worst = d->index;
    }
    if (distance > c->least_atol)
        c->least_atol = distance;
    /* A product decides before a division is paid for. */
    if (!(distance <= c->least_rtol * fabs(d->want_value)) &&
        (factor = least_factor(distance, d->want_value)) > c->least_rtol)
        c->least_rtol = factor;
    c->outside += !(distance <= o->atol + o->rtol * fabs(d->want_value)) && steps > o->ulp;
}

static void add_kind(struct comparison *c)
{
    c->differ++;
    c->of_kind++;
    c->outside++;
    c->least_atol = c->least_rtol = INFINITY;
}

/* Two codes that are not the same bits. */
static void add_difference(struct comparison *c, int64_t index, uint64_t got, uint64_t want,
                           double exact)
{
    bool nan = is_nan(c, got), other_nan = is_nan(c, want);
    if (nan && other_nan)
        return;
    if (((got | want) & ~c->sign) == 0) {
        c->zero_signs++;
        return;
    }
    struct difference d = {.index = index, .got = got, .want = want, .exact = exact};
    d.got_value = value_of(c->format, got);
    d.want_value = value_of(c->format, want);
    d.of_kind = nan || other_nan || is_infinite(c, got) || is_infinite(c, want);
    d.steps = d.of_kind ? 0 : steps_between(c, got, want);
    if (d.of_kind)
        add_kind(c);
    else
        add_steps(c, &d);
    if (c->heads > 0)
        c->head_differ[index / c->head_stride % c->heads]++;
    if (c->differ <= c->options.keep)
        c->options.found(c->options.context, &d);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Any code of 16 or 32 bits whose magnitude is infinity's or more?  Written for vector units. */
static bool any_special_16(const unsigned char *codes, int64_t count, uint16_t infinity)
{
    int16_t limit = (int16_t)(infinity - 1), any = 0;
    for (int64_t i = 0; i < count; i++) {
        uint16_t code;
        memcpy(&code, codes + 2 * i, sizeof code);
        any |= (int16_t)(code & 0x7fff) > limit;
    }
    return any != 0;
}

static bool any_special_32(const unsigned char *codes, int64_t count, uint32_t infinity)
{
    int32_t limit = (int32_t)(infinity - 1), any = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t code;
        memcpy(&code, codes + 4 * i, sizeof code);
        any |= (int32_t)(code & 0x7fffffff) > limit;
    }
    return any != 0;
}

/* For the sides first .. last, which have these codes. */
static void count_specials(struct comparison *c, const unsigned char *codes, int64_t count,
                           int first, int last)
{
    const size_t width = width_of(c->format);
    if (width == 2 && !any_special_16(codes, count, (uint16_t)c->infinity))
        return;
    if (width == 4 && !any_special_32(codes, count, (uint32_t)c->infinity))
        return;
    for (int64_t i = 0; i < count; i++) {
        uint64_t code = load(codes + (size_t)i * width, width);
        for (int side = first; side <= last; side++) {
            c->nan[side] += is_nan(c, code);
            c->infinite[side] += is_infinite(c, code);
        }
    }
}

/* got = factor * want within a few roundings?  Near 0 a logarithm is a difference of larger
   numbers, so there its error is only bounded by theirs: no evidence, but no contradiction. */
static void weigh_base(struct comparison *c, double got, double want)
{
    const double unit = ldexp(1, 3 - format_info(c->format)->precision);
    if (isnan(got) || isnan(want) || isinf(got) || isinf(want)) {
        c->base_alive[0] &= got == want || (isnan(got) && isnan(want));
        c->base_alive[1] = c->base_alive[0] && c->base_alive[1];
        return;
    }
    for (int inverse = 0; inverse < 2; inverse++) {
        double high = inverse ? want : got, low = inverse ? got : want;
        double error = fabs(high - low * log2e);
        c->base_alive[inverse] &= error <= unit * fabs(high) || error <= unit;
    }
    c->base_evidence += fabs(got) >= 0.5 && fabs(want) >= 0.5;
}

static void weigh_bases(struct comparison *c, const unsigned char *got, const unsigned char *want,
                        int64_t count)
{
    const size_t width = width_of(c->format);
    for (int64_t i = 0; i < count && (c->base_alive[0] || c->base_alive[1]); i++)
        weigh_base(c, value_of(c->format, load(got + (size_t)i * width, width)),
                   value_of(c->format, load(want + (size_t)i * width, width)));
}

/* Is g, when g < w, nearer to e than w is?  The sign of g + w - 2e, the sum split without error. */
static int sign_of_middle(double g, double w, double e)
{
    double sum = g / 2 + w / 2, part = sum - g / 2;
    double lost = (g / 2 - (sum - part)) + (w / 2 - part);
    return sum != e ? (sum > e) - (sum < e) : (lost > 0) - (lost < 0);
}

static bool same_kind(double a, double b)
{
    return isnan(a) ? isnan(b) : isinf(a) ? a == b : isfinite(b);
}

static void add_nearer(struct comparison *c, double g, double w, double e)
{
    bool g_kind = same_kind(g, e), w_kind = same_kind(w, e);
    int middle = !g_kind || !w_kind || !isfinite(e) ? g_kind - w_kind
                 : g < w                            ? sign_of_middle(g, w, e)
                                                    : -sign_of_middle(g, w, e);
    c->equally_far += middle == 0;
    c->nearer[0] += middle > 0;
    c->nearer[1] += middle < 0;
}

static void add_side(struct comparison *c, struct compare_side *s, int64_t index, double x,
                     double e)
{
    double rounded = format_round(c->format, e, false);
    s->rounded += x == rounded || (isnan(x) && isnan(rounded));
    if (!same_kind(x, e)) {
        s->of_kind++;
        return;
    }
    double error = isfinite(e) ? (x - e) / format_ulp(c->format, e) : 0;
    s->sum_ulp += error;
    if (s->worst < 0 || fabs(error) > s->max_ulp) {
        s->max_ulp = fabs(error);
        s->worst = index;
    }
}

static void add_exact(struct comparison *c, const unsigned char *got, const unsigned char *want,
                      const double *exact, int64_t count)
{
    const size_t width = width_of(c->format);
    for (int64_t i = 0; i < count; i++) {
        double g = value_of(c->format, load(got + (size_t)i * width, width));
        double w = value_of(c->format, load(want + (size_t)i * width, width));
        add_side(c, &c->side[0], c->done + i, g, exact[i]);
        add_side(c, &c->side[1], c->done + i, w, exact[i]);
        if (g != w && !(isnan(g) && isnan(w)))
            add_nearer(c, g, w, exact[i]);
    }
}

/* Every code of a stretch that is not the same on both sides; the width is known when compiled. */
static inline void add_unequal(struct comparison *c, const unsigned char *got,
                               const unsigned char *want, const double *exact, int64_t count,
                               const size_t width)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t g = load(got + (size_t)i * width, width);
        uint64_t w = load(want + (size_t)i * width, width);
        if (g != w)
            add_difference(c, c->done + i, g, w, exact != NULL ? exact[i] : 0);
    }
}

static void add_stretch(struct comparison *c, const unsigned char *got, const unsigned char *want,
                        const double *exact, int64_t count)
{
    const size_t width = width_of(c->format);
    bool equal = memcmp(got, want, (size_t)count * width) == 0;
    count_specials(c, got, count, 0, equal ? 1 : 0);
    if (!equal)
        count_specials(c, want, count, 1, 1);
    if (exact != NULL)
        add_exact(c, got, want, exact, count);
    if (c->base_alive[0] || c->base_alive[1])
        weigh_bases(c, got, want, count);
    if (!equal && width == 2)
        add_unequal(c, got, want, exact, count, 2);
    else if (!equal && width == 4)
        add_unequal(c, got, want, exact, count, 4);
    else if (!equal)
        add_unequal(c, got, want, exact, count, width);
    c->done += count;
}

void compare_add(struct comparison *c, const void *got, const void *want, const double *exact,
                 int64_t count)
{
    enum { STRETCH = 4096 };
    const unsigned char *g = got, *w = want;
    const int64_t width = (int64_t)width_of(c->format);
    assert(count <= c->elements - c->done);
    for (int64_t i = 0; i < count; i += STRETCH)
        add_stretch(c, g + i * width, w + i * width, c->options.exact ? exact + i : NULL,
                    least(STRETCH, count - i));
}

void compare_end(struct comparison *c)
{
    assert(c->done == c->elements);
    end_row(c);
}
