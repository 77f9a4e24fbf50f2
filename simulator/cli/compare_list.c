/* compare_list.c: one differing element: decimal, hex, bits with carets under those that differ. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "simulator/cli/compare.h"

struct index_text index_text(int rank, const int64_t *shape, int64_t index)
{
    struct index_text t = {"["};
    int64_t at[TENSOR_MAX_RANK];
    for (int i = rank - 1; i >= 0; i--) {
        at[i] = index % shape[i];
        index /= shape[i];
    }
    size_t used = 1;
    for (int i = 0; i < rank; i++)
        used += (size_t)snprintf(t.text + used, sizeof t.text - used, "%s%" PRId64,
                                 i > 0 ? "," : "", at[i]);
    snprintf(t.text + used, sizeof t.text - used, "]");
    return t;
}

/* "0 01111111 0101001": sign, exponent, fraction. */
struct bits_text {
    char text[72];
};

static struct bits_text bits_text(enum format f, uint64_t code)
{
    struct bits_text t;
    const int bits = format_info(f)->bits, fraction = format_info(f)->precision - 1;
    int to = 0;
    for (int i = bits - 1; i >= 0; i--) {
        t.text[to++] = (code >> i) & 1 ? '1' : '0';
        if (i == bits - 1 || i == fraction)
            t.text[to++] = ' ';
    }
    t.text[to] = 0;
    return t;
}

static struct bits_text carets(struct bits_text a, struct bits_text b)
{
    struct bits_text t;
    int end = 0;
    for (int i = 0; a.text[i] != 0; i++) {
        t.text[i] = a.text[i] != b.text[i] ? '^' : ' ';
        if (t.text[i] == '^')
            end = i + 1;
    }
    t.text[end] = 0;
    return t;
}

/* The bits of wide formats have lines of their own, below those of both values. */
static void list_side(FILE *list, const char *head, int width, const char *label, enum format f,
                      double value, uint64_t code)
{
    const int bits = format_info(f)->bits;
    fprintf(list, " %-*s  %-5s %-*s  %0*" PRIX64, width, head, label, bits > 16 ? 24 : 13,
            number_text(f, value).text, bits / 4, code);
    if (bits <= 16)
        fprintf(list, "   %s", bits_text(f, code).text);
    fprintf(list, "\n");
}

static double ulps_off(enum format f, double x, double exact)
{
    return isfinite(exact) ? (x - exact) / format_ulp(f, exact) : NAN;
}

static void list_text(struct compare_pair *p, const struct difference *d)
{
    enum { NARROW = 11, WIDE = 20 };
    const enum format f = p->c.format;
    const bool wide = format_info(f)->bits > 16;
    struct index_text index = index_text(p->got.rank, p->got.shape, d->index);
    int length = (int)strlen(index.text), width = length <= NARROW ? NARROW : WIDE;
    if (length > WIDE)
        fprintf(p->list, " %s\n", index.text);
    list_side(p->list, length > WIDE ? "" : index.text, width, "got", f, d->got_value, d->got);
    list_side(p->list, "", width, "want", f, d->want_value, d->want);
    if (wide)
        fprintf(p->list, "%12s%s\n%12s%s\n", "", bits_text(f, d->got).text, "",
                bits_text(f, d->want).text);
    fprintf(p->list, "%*s%s\n", wide ? 12 : width + 27 + format_info(f)->bits / 4, "",
            carets(bits_text(f, d->got), bits_text(f, d->want)).text);
    if (p->exact.file != NULL)
        fprintf(p->list, " %*s  exact %-17.12g got %+.2f ulp   want %+.2f ulp\n", width, "",
                d->exact, ulps_off(f, d->got_value, d->exact),
                ulps_off(f, d->want_value, d->exact));
}

static void list_table(struct compare_pair *p, const struct difference *d)
{
    const enum format f = p->c.format;
    const int digits = format_info(f)->bits / 4;
    FILE *table = p->job->table;
    if (p->job->file != NULL)
        fprintf(table, "%s%s", p->job->file, p->label[0] != 0 ? ": " : "");
    fprintf(table, "%s\t%s\t%s\t%s\t%0*" PRIX64 "\t%0*" PRIX64 "\t", p->label,
            index_text(p->got.rank, p->got.shape, d->index).text,
            number_text(FORMAT_FP64, d->got_value).text,
            number_text(FORMAT_FP64, d->want_value).text, digits, d->got, digits, d->want);
    if (d->of_kind)
        fprintf(table, "kind\t");
    else
        fprintf(table, "%" PRId64 "\t", d->steps);
    fprintf(table, "%s\n", p->exact.file != NULL ? number_text(FORMAT_FP64, d->exact).text : "");
}

void compare_list(void *context, const struct difference *d)
{
    struct compare_pair *p = context;
    struct json *j = json_object(p->differences, NULL);
    char hex[24];
    const int digits = format_info(p->c.format)->bits / 4;
    p->job->listed++;
    list_text(p, d);
    list_table(p, d);
    json_string(j, "index", index_text(p->got.rank, p->got.shape, d->index).text);
    json_real(j, "got", d->got_value);
    json_real(j, "want", d->want_value);
    snprintf(hex, sizeof hex, "0x%0*" PRIX64, digits, d->got);
    json_string(j, "got_bits", hex);
    snprintf(hex, sizeof hex, "0x%0*" PRIX64, digits, d->want);
    json_string(j, "want_bits", hex);
    if (d->of_kind)
        json_string(j, "ulps", "kind");
    else
        json_whole(j, "ulps", d->steps);
    if (p->exact.file != NULL)
        json_real(j, "exact", d->exact);
}
