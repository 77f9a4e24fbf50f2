/* device_file.c: a device of the user's own, from a JSON file.

   The file is what `flashulp list devices --json` prints of one device: name, meaning, architecture
   and figures, each figure a number or {value, unit, source}.  Nothing in it is believed: its size
   is limited, an unknown or repeated key is refused by name, every text fits its place and every
   number lies in a stated range.  Follows RFC 8259, of which texts take printable ASCII only. */
#include "simulator/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "reference/tensor.h"

enum { MOST_BYTES = 65536, MOST_SMS = 4096, NUMBER_ROOM = 40 };
static const double most_figure = 1e9;

/* Where reading stands; the text ends with a zero byte. */
struct reader {
    const char *label, *at;
    int line;
    enum quantity_id quantity; /* whose figure is being read */
    struct device_record *d;
    struct message *why;
};

static void skip_blanks(struct reader *r)
{
    for (; *r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n'; r->at++)
        r->line += *r->at == '\n';
}

static bool take(struct reader *r, char wanted)
{
    skip_blanks(r);
    if (*r->at != wanted)
        return false;
    r->at++;
    return true;
}

/* Ends a sentence about what is wanted. */
static const char *where(const struct reader *r)
{
    return *r->at == 0 ? "where the file ends" : "here";
}

static bool want(struct reader *r, char wanted, const char *name)
{
    return take(r, wanted) ||
           refuse(r->why, "%s:%d: %s is wanted %s", r->label, r->line, name, where(r));
}

/* A text of at most room - 1 printable characters of ASCII. */
static bool read_text(struct reader *r, char *to, size_t room)
{
    size_t length = 0;
    if (!take(r, '"'))
        return refuse(r->why, "%s:%d: a text in double quotes is wanted %s", r->label, r->line,
                      where(r));
    for (; *r->at != '"'; r->at++) {
        if (*r->at == '\\' && (r->at[1] == '"' || r->at[1] == '\\' || r->at[1] == '/'))
            r->at++;
        else if (*r->at < 32 || *r->at > 126 || *r->at == '\\')
            return refuse(r->why, "%s:%d: a text of printable ASCII, closed by a quote, is wanted",
                          r->label, r->line);
        if (length == room - 1)
            return refuse(r->why, "%s:%d: a text of more than %zu characters", r->label, r->line,
                          room - 1);
        to[length++] = *r->at;
    }
    to[length] = 0;
    r->at++;
    return true;
}

/* Where the digits that begin at `at` end; NULL if there are none. */
static const char *digits_end(const char *at)
{
    const char *end = at;
    while ('0' <= *end && *end <= '9')
        end++;
    return end > at ? end : NULL;
}

/* Where the number that begins at `at` ends, or NULL. */
static const char *number_end(const char *at)
{
    at += *at == '-';
    const char *end = *at == '0' ? at + 1 : digits_end(at);
    if (end != NULL && *end == '.')
        end = digits_end(end + 1);
    if (end != NULL && (*end == 'e' || *end == 'E')) {
        end++;
        end = digits_end(end + (*end == '+' || *end == '-'));
    }
    return end;
}

static bool read_number(struct reader *r, double *x)
{
    skip_blanks(r);
    const char *end = number_end(r->at);
    if (end == NULL || end - r->at > NUMBER_ROOM)
        return refuse(r->why, "%s:%d: a number of at most %d characters is wanted %s", r->label,
                      r->line, NUMBER_ROOM, where(r));
    char digits[NUMBER_ROOM + 1] = ""; /* alone: strtod would go on in 0x38 */
    memcpy(digits, r->at, (size_t)(end - r->at));
    *x = strtod(digits, NULL);
    r->at = end;
    return true;
}

/* One of names[0..count). */
static bool read_key(struct reader *r, const char *const *names, int count, int *n)
{
    char key[64];
    if (!read_text(r, key, sizeof key))
        return false;
    for (*n = 0; *n < count; ++*n)
        if (strcmp(names[*n], key) == 0)
            return true;
    const char *near = nearest_name(key, names, count);
    if (near != NULL)
        return refuse(r->why, "%s:%d: unknown key \"%s\"; did you mean \"%s\"?", r->label, r->line,
                      key, near);
    char list[160] = "";
    for (int i = 0; i < count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                 i == 0           ? ""
                 : i == count - 1 ? " and "
                                  : ", ",
                 names[i]);
    return refuse(r->why, "%s:%d: unknown key \"%s\"; %s are read", r->label, r->line, key, list);
}

/* An object whose keys are of names[0..count), each at most once; *seen receives which. */
static bool read_object(struct reader *r, const char *const *names, int count, unsigned *seen,
                        bool (*read_value)(struct reader *r, int key))
{
    *seen = 0;
    if (!want(r, '{', "{"))
        return false;
    if (take(r, '}'))
        return true;
    do {
        int n;
        if (!read_key(r, names, count, &n))
            return false;
        if ((*seen & 1u << n) != 0)
            return refuse(r->why, "%s:%d: \"%s\" for the second time", r->label, r->line, names[n]);
        *seen |= 1u << n;
        if (!want(r, ':', "a colon") || !read_value(r, n))
            return false;
    } while (take(r, ','));
    return want(r, '}', "a comma or }");
}

static bool read_figure_number(struct reader *r)
{
    const char *name = quantity_name(r->quantity);
    double x = 0;
    if (!read_number(r, &x))
        return false;
    if (r->quantity == QUANTITY_SMS && !(1 <= x && x <= MOST_SMS && x == (double)(int)x))
        return refuse(r->why, "%s:%d: %s: a whole number from 1 to %d is right", r->label, r->line,
                      name, MOST_SMS);
    if (!(0 < x && x <= most_figure))
        return refuse(r->why, "%s:%d: %s: a number above 0, at most %g, is right", r->label,
                      r->line, name, most_figure);
    r->d->figure[r->quantity] = x;
    return true;
}

static const char *const figure_keys[] = {"value", "unit", "source"};
enum { FIGURE_VALUE, FIGURE_UNIT, FIGURE_SOURCE, FIGURE_KEYS };

static bool read_figure_part(struct reader *r, int key)
{
    char unit[32];
    const char *right = quantity_unit(r->quantity);
    if (key == FIGURE_VALUE)
        return read_figure_number(r);
    if (key == FIGURE_SOURCE)
        return read_text(r, r->d->source[r->quantity], sizeof r->d->source[0]);
    if (!read_text(r, unit, sizeof unit))
        return false;
    if (strcmp(unit, right) != 0)
        return refuse(r->why, "%s:%d: %s in \"%s\"; \"%s\" is right", r->label, r->line,
                      quantity_name(r->quantity), unit, right);
    return true;
}

/* A number, or an object with one; the source of a bare number is the file. */
static bool read_figure(struct reader *r, int quantity)
{
    unsigned seen;
    r->quantity = (enum quantity_id)quantity;
    snprintf(r->d->source[quantity], sizeof r->d->source[0], "%s", r->label);
    skip_blanks(r);
    if (*r->at != '{')
        return read_figure_number(r);
    if (!read_object(r, figure_keys, FIGURE_KEYS, &seen, read_figure_part))
        return false;
    return (seen & 1u << FIGURE_VALUE) != 0 ||
           refuse(r->why, "%s:%d: %s has no \"value\"", r->label, r->line,
                  quantity_name(r->quantity));
}

/* The name goes into lists and run names, and may not pass for a device we have figures of. */
static bool read_name(struct reader *r)
{
    char *name = r->d->name;
    if (!read_text(r, name, sizeof r->d->name))
        return false;
    if (name[0] == 0 || strpbrk(name, " ,@/\"\\") != NULL)
        return refuse(r->why, "%s:%d: a name of letters, digits and dashes is right", r->label,
                      r->line);
    for (int i = 0; i < DEVICE_COUNT; i++)
        if (strcasecmp(name, device_info((enum device)i)->name) == 0)
            return refuse(r->why,
                          "%s:%d: the name %s is that of flashulp list devices; another is "
                          "right",
                          r->label, r->line, name);
    return true;
}

static bool read_architecture(struct reader *r)
{
    char word[32];
    if (!read_text(r, word, sizeof word))
        return false;
    for (int a = 0; a < ARCHITECTURE_COUNT; a++)
        if (strcasecmp(word, architecture_info((enum architecture)a)->name) == 0) {
            r->d->architecture = (enum architecture)a;
            return true;
        }
    return refuse(r->why, "%s:%d: unknown architecture \"%s\"; flashulp list architectures",
                  r->label, r->line, word);
}

static bool read_figures(struct reader *r)
{
    const char *names[QUANTITY_COUNT];
    unsigned seen;
    for (int q = 0; q < QUANTITY_COUNT; q++)
        names[q] = quantity_name((enum quantity_id)q);
    if (!read_object(r, names, QUANTITY_COUNT, &seen, read_figure))
        return false;
    return (seen & 1u << QUANTITY_SMS) != 0 ||
           refuse(r->why, "%s:%d: the figures want \"%s\"", r->label, r->line, names[QUANTITY_SMS]);
}

static const char *const device_keys[] = {"name", "architecture", "figures", "meaning"};
enum { KEY_NAME, KEY_ARCHITECTURE, KEY_FIGURES, KEY_MEANING, KEYS };

static bool read_part(struct reader *r, int key)
{
    switch (key) {
    case KEY_NAME:
        return read_name(r);
    case KEY_ARCHITECTURE:
        return read_architecture(r);
    case KEY_FIGURES:
        return read_figures(r);
    default:
        return read_text(r, r->d->meaning, sizeof r->d->meaning);
    }
}

bool device_parse(const char *label, const unsigned char *bytes, size_t size,
                  struct device_record *d, struct message *why)
{
    struct reader r = {.label = label, .at = (const char *)bytes, .line = 1, .d = d, .why = why};
    unsigned seen;
    *d = (struct device_record){.name = ""};
    if (size > MOST_BYTES)
        return refuse(why, "%s: %zu bytes; a device has at most %d", label, size, MOST_BYTES);
    if (!read_object(&r, device_keys, KEYS, &seen, read_part))
        return false;
    skip_blanks(&r);
    if (r.at != (const char *)bytes + size)
        return refuse(why, "%s:%d: something follows the device; the file ends with its }", label,
                      r.line);
    for (int key = 0; key < KEY_MEANING; key++)
        if ((seen & 1u << key) == 0)
            return refuse(why, "%s: the device has no \"%s\"", label, device_keys[key]);
    return true;
}

bool device_from_file(const char *path, struct device_record *d, struct message *why)
{
    unsigned char *bytes;
    size_t size;
    if (!file_read(path, MOST_BYTES, &bytes, &size, why))
        return false;
    bool ok = device_parse(path, bytes, size, d, why);
    free(bytes);
    return ok;
}

bool device_lookup(const char *name_or_path, struct device_record *d, struct message *why)
{
    size_t length = strlen(name_or_path);
    enum device known;
    if (length > 5 && strcasecmp(name_or_path + length - 5, ".json") == 0)
        return device_from_file(name_or_path, d, why);
    *d = (struct device_record){.name = ""};
    if (!device_from_name(name_or_path, &known, why))
        return false;
    const struct device_info *info = device_info(known);
    snprintf(d->name, sizeof d->name, "%s", info->name);
    snprintf(d->meaning, sizeof d->meaning, "%s", info->meaning);
    d->architecture = info->architecture;
    for (int q = 0; q < QUANTITY_COUNT; q++) {
        const char *source;
        d->figure[q] = device_figure(known, (enum quantity_id)q, &source);
        snprintf(d->source[q], sizeof d->source[q], "%s", source != NULL ? source : "");
    }
    return true;
}

static bool another_device(const char *name, struct device_record *d, int room, int *count,
                           struct message *why)
{
    if (*count == room)
        return refuse(why, "--device: at most %d devices", room);
    if (!device_lookup(name, &d[*count], why))
        return false;
    for (int i = 0; i < *count; i++)
        if (strcmp(d[i].name, d[*count].name) == 0)
            return refuse(why, "--device names %.60s twice; once is right", d[i].name);
    ++*count;
    return true;
}

bool devices_from_list(const char *list, struct device_record *d, int room, int *count,
                       struct message *why)
{
    *count = 0;
    for (const char *at = list;;) {
        char name[512];
        size_t length = strcspn(at, ",");
        if (length >= sizeof name)
            return refuse(why, "--device: a name of %zu letters is too long", length);
        memcpy(name, at, length);
        name[length] = 0;
        if (!another_device(name, d, room, count, why))
            return false;
        if (at[length] == 0)
            return true;
        at += length + 1;
    }
}
