/* bits.c: `flashulp bits NUMBER`: fields, neighbours, spacing, and which way it rounds.

   NUMBER is decimal, C's hexadecimal floating point, or 0x and as many hex digits as the format
   has: then it is the bits themselves. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/place.h"
#include "simulator/cli/cli.h"
#include "simulator/report.h"
#include "simulator/scenario_parts.h"

/* "0x3EBC" and nothing else: how many digits follow, or 0. */
static int hex_digits(const char *text)
{
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
        return 0;
    int n = 0;
    while (isxdigit((unsigned char)text[2 + n]))
        n++;
    return text[2 + n] == 0 ? n : 0;
}

/* sign, exponent, fraction: a format of w exponent bits has emin = 2 - 2^(w-1). */
static int exponent_bits(enum format f)
{
    int w = 1;
    while (2 - (1 << (w - 1)) > format_info(f)->emin)
        w++;
    return w;
}

static void binary(char *out, uint64_t bits, int high, int count)
{
    for (int i = 0; i < count; i++)
        out[i] = (bits >> (high - i)) & 1 ? '1' : '0';
    out[count] = 0;
}

struct fields {
    char sign[2], exponent[16], fraction[64], hex[24];
};

static struct fields fields_of(enum format f, double value)
{
    struct fields x;
    uint64_t bits = format_encode(f, value);
    int width = format_info(f)->bits, w = exponent_bits(f);
    binary(x.sign, bits, width - 1, 1);
    binary(x.exponent, bits, width - 2, w);
    binary(x.fraction, bits, width - 2 - w, width - 1 - w);
    snprintf(x.hex, sizeof x.hex, "0x%0*" PRIX64, width / 4, bits);
    return x;
}

/* Which way the text went to become the number. */
static const char *direction(const struct decimal_place *p)
{
    return p->side == 0 ? "exact" : p->side > 0 ? "down" : "up";
}

static void add_json(struct json *list, enum format f, const struct decimal_place *p)
{
    struct fields x = fields_of(f, p->value);
    struct json *j = json_object(list, NULL);
    json_string(j, "format", format_info(f)->name);
    json_string(j, "bits", x.hex);
    json_string(j, "sign", x.sign);
    json_string(j, "exponent", x.exponent);
    json_string(j, "fraction", x.fraction);
    json_real(j, "value", p->value);
    json_real(j, "ulp", format_ulp(f, p->value));
    json_real(j, "position_ulp", p->ulps);
    json_string(j, "rounds", direction(p));
    json_truth(j, "tie", p->tie);
    if (!isnan(p->value)) {
        json_real(j, "next_up", format_next(f, p->value, 1));
        json_real(j, "next_down", format_next(f, p->value, -1));
    }
}

/* One line of the overview. */
static void add_line(struct report *r, enum format f, const struct decimal_place *p)
{
    struct fields x = fields_of(f, p->value);
    char place[32] = "";
    if (p->side != 0 && isfinite(p->value))
        snprintf(place, sizeof place, "%+.3f", p->ulps);
    report_text(r, " %-9s%-19s %-24s %-9s %s\n", format_info(f)->name, x.hex,
                number_text(f, p->value).text, place,
                p->tie                                ? "a tie"
                : !isfinite(p->value) && p->side != 0 ? "overflows"
                                                      : direction(p));
    report_row(r, "%s\t%s\t%s\t%s", format_info(f)->name, x.hex,
               number_text(FORMAT_FP64, p->value).text, place);
}

static void add_place(struct report *r, const char *text, enum format f,
                      const struct decimal_place *p)
{
    int exponent;
    if (isnan(p->value)) {
        report_text(r,
                    p->side == 0 ? " not a number; every NaN is written as these bits\n"
                                 : " overflows: %s has no infinity; largest %.9g\n",
                    format_info(f)->name, format_info(f)->largest);
        return;
    }
    struct number_text up = number_text(f, format_next(f, p->value, 1));
    struct number_text down = number_text(f, format_next(f, p->value, -1));
    if (isinf(p->value)) {
        report_text(r, " %s; next down %s\n",
                    p->side == 0 ? "infinity"
                                 : "overflows: the nearest "
                                   "number has no room for so large an exponent",
                    p->value > 0 ? down.text : up.text);
        return;
    }
    frexp(format_ulp(f, p->value), &exponent);
    if (p->side == 0)
        report_text(r, " input %.40s is this number exactly", text);
    else
        report_text(r, " input %.40s lies %+.3f ulp %s it", text, p->ulps,
                    p->side > 0 ? "above" : "below");
    report_text(r, "\n next up %s; next down %s;%s1 ulp = 2^%d\n", up.text, down.text,
                strlen(up.text) + strlen(down.text) > 40 ? "\n " : " ", exponent - 1);
    if (p->side != 0)
        report_text(r, " rounds %s: %s\n", p->side > 0 ? "down" : "up",
                    p->tie ? "a tie, to the even fraction" : "nearest, not a tie");
}

static void add_details(struct report *r, const char *text, enum format f,
                        const struct decimal_place *p)
{
    struct fields x = fields_of(f, p->value);
    int w = (int)strlen(x.fraction);
    report_text(r, " %s %s %s%s%s   %s%s\n", x.sign, x.exponent, x.fraction, w > 23 ? "\n " : "   ",
                x.hex, number_text(f, p->value).text,
                w == 23  ? "\n (sign exponent fraction)"
                : w > 10 ? "   (sign exponent fraction)"
                         : "      (sign exponent fraction)");
    add_place(r, text, f, p);
    report_row(r, "%s\t%s\t%s\t%.9g", format_info(f)->name, x.hex,
               number_text(FORMAT_FP64, p->value).text, p->ulps);
}

/* Is the last bit of the fraction 0?  (tf32's storage has bits behind it.) */
static bool even(enum format f, double value)
{
    return fmod(value / format_ulp(f, value), 2) == 0;
}

/* The formats' numbers around the input, in ulps of the one stored: two on each side, and what
   rounds to it.  Neighbours lie nearer below a power of two. */
static void draw_row(struct page_block *chart, enum format f, const struct decimal_place *p)
{
    double ulp = format_ulp(f, p->value), at[5] = {0};
    double down = format_next(f, p->value, -1), up = format_next(f, p->value, 1);
    char note[80], label[48];
    const double value[] = {format_next(f, down, -1), down, p->value, up, format_next(f, up, 1)};
    snprintf(note, sizeof note, "%s", p->tie ? "a tie, to even" : direction(p));
    snprintf(label, sizeof label, "%s: %s", format_info(f)->name, number_text(f, p->value).text);
    page_chart_row(chart, note, "%s", label);
    for (int n = 0; n < 5; n++)
        at[n] = (value[n] - p->value) / ulp;
    page_chart_mark(chart, PAGE_BAR_4, at[1] / 2, at[3] / 2, "%s", "");
    for (int n = 0; n < 5; n++)
        page_chart_mark(chart, even(f, value[n]) ? PAGE_DOT : PAGE_RING, at[n], at[n], "%s",
                        number_text(f, value[n]).text);
    page_chart_mark(chart, PAGE_DIAMOND, p->ulps, p->ulps, "the input, %+.3f ulp", p->ulps);
}

/* Formats in which the input or a neighbour has no place on the axis are left out. */
static void add_picture(struct report *r, const char *text, const struct decimal_place *place,
                        enum format first, enum format last)
{
    char *caption = NULL;
    text_append(&caption, "where %.40s lies among the numbers of %s", text,
                first == last ? format_info(first)->name : "each format");
    struct page_block *chart =
        page_chart(report_picture(r), "distance from the number stored, in ulps of the format",
                   false, caption);
    page_chart_key(chart, PAGE_DIAMOND, "the input");
    page_chart_key(chart, PAGE_DOT, "a number whose last bit is 0");
    page_chart_key(chart, PAGE_RING, "one whose last bit is 1");
    page_chart_key(chart, PAGE_BAR_4, "rounds to the number at 0");
    for (enum format f = first; f <= last; f++) {
        const struct decimal_place *p = &place[f];
        bool finite = isfinite(p->value) && isfinite(format_next(f, p->value, 1)) &&
                      isfinite(format_next(f, p->value, -1));
        if (finite)
            draw_row(chart, f, p);
    }
    free(caption);
}

static bool usual_format(int digits, enum format *f)
{
    *f = digits == 8 ? FORMAT_FP32 : FORMAT_FP64;
    return digits == 8 || digits == 16;
}

/* The bits themselves: their value is exact. */
static bool from_bits(const char *text, bool format_given, enum format *f,
                      struct decimal_place *place, struct message *why)
{
    int digits = hex_digits(text);
    if (!format_given && !usual_format(digits, f))
        return refuse(why, "%.24s: bits of which format? --format %s is right", text,
                      digits <= 2   ? "e4m3 or e5m2"
                      : digits <= 4 ? "bf16 or fp16"
                                    : "fp32 or fp64");
    if (digits > format_info(*f)->bits / 4)
        return refuse(why, "%.24s: %s has %d hex digits", text, format_info(*f)->name,
                      format_info(*f)->bits / 4);
    *place = (struct decimal_place){.value = format_decode(*f, strtoull(text, NULL, 16))};
    return true;
}

static bool answer(struct report *r, const struct scenario *s, struct message *why)
{
    enum format f = FORMAT_FP32;
    struct decimal_place place[FORMAT_COUNT];
    bool given = s->value[OPTION_FORMAT] != NULL;
    if (s->problem == NULL)
        return refuse(why, "which number? flashulp bits 0.1 --format bf16");
    if (given && !format_from_name(s->value[OPTION_FORMAT], &f, why))
        return false;
    if (f == FORMAT_EXACT)
        return refuse(why, "--format exact has no bits; flashulp list formats names those that do");
    struct json *list = json_list(r->json, "formats");
    report_row(r, "format\tbits\tvalue\tposition_ulp");
    if (hex_digits(s->problem) > 0) {
        if (!from_bits(s->problem, given, &f, &place[f], why))
            return false;
        add_details(r, s->problem, f, &place[f]);
        add_json(list, f, &place[f]);
        add_picture(r, s->problem, place, f, f);
        return true;
    }
    enum format first = given ? f : FORMAT_FP64, last = given ? f : (enum format)(FORMAT_COUNT - 1);
    for (enum format i = first; i <= last; i++) {
        if (!decimal_place(s->problem, i, &place[i], why))
            return false;
        if (given)
            add_details(r, s->problem, i, &place[i]);
        else
            add_line(r, i, &place[i]);
        add_json(list, i, &place[i]);
    }
    add_picture(r, s->problem, place, first, last);
    return true;
}

int cli_bits(int argc, char **argv)
{
    struct scenario s;
    struct report r;
    struct message why;
    int status = 0;
    if (!cli_scenario(&s, COMMAND_BITS, argc, argv, &status))
        return status;
    report_new(&r, &s);
    if (!report_check_outputs(&s, "json md csv svg", NULL, 0, &why) || !answer(&r, &s, &why) ||
        !report_finish(&r, &why))
        status = cli_refused("bits", &why);
    report_free(&r);
    scenario_free(&s);
    return status;
}
