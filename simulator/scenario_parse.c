/* scenario_parse.c: numbers and lists out of option texts; see scenario_parts.h. */
#include "simulator/scenario_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A whole number at *at, which moves behind it.  Digits with an optional minus, nothing else. */
static bool take_integer(const char **at, int64_t *x)
{
    char *end;
    const char *digits = *at + (**at == '-');
    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    long long value = strtoll(*at, &end, 10);
    if (errno != 0)
        return false;
    *x = value;
    *at = end;
    return true;
}

bool parse_integer(const char *option, const char *text, int64_t least, int64_t most, int64_t *x,
                   struct message *why)
{
    const char *at = text;
    if (take_integer(&at, x) && *at == 0 && *x >= least && *x <= most)
        return true;
    return refuse(why, "%s %.40s: a whole number from %" PRId64 " to %" PRId64 " is right", option,
                  text, least, most);
}

bool parse_integers(const char *option, const char *text, const char *form, int count,
                    int64_t least, int64_t most, int64_t *x, struct message *why)
{
    const char *at = text;
    for (int i = 0; i < count; i++) {
        bool last = i == count - 1;
        if (!take_integer(&at, &x[i]) || *at != (last ? 0 : ','))
            return refuse(why, "%s %.60s: %s, %d whole numbers, is right", option, text, form,
                          count);
        if (x[i] < least || x[i] > most)
            return refuse(why, "%s %.60s: %" PRId64 " is outside %" PRId64 " to %" PRId64, option,
                          text, x[i], least, most);
        at += !last;
    }
    return true;
}

bool parse_list(const char *option, const char *text, int64_t **list, int64_t *count,
                struct message *why)
{
    *list = malloc((strlen(text) + 1) * sizeof **list);
    *count = 0;
    if (*list == NULL)
        return refuse(why, "%s: no memory", option);
    for (const char *at = text; take_integer(&at, &(*list)[*count]); at++) {
        ++*count;
        if (*at == 0)
            return true;
        if (*at != ',')
            break;
    }
    free(*list);
    *list = NULL;
    return refuse(why, "%s %.60s: whole numbers separated by commas are right", option, text);
}

bool parse_marks(const char *option, const char *text, int64_t size, bool **marks,
                 struct message *why)
{
    *marks = calloc(size > 0 ? (size_t)size : 1, sizeof **marks);
    if (*marks == NULL)
        return refuse(why, "%s: no memory", option);
    for (const char *at = text;; at++) {
        int64_t first, last;
        if (!take_integer(&at, &first))
            break;
        last = first;
        if (*at == '-' && (at++, !take_integer(&at, &last)))
            break;
        if (first < 0 || last < first || last >= size) {
            refuse(why, "%s %.60s: numbers from 0 to %" PRId64 " and ranges of them are right",
                   option, text, size - 1);
            if (size == 0)
                refuse(why, "%s %.60s: the problem has none", option, text);
            goto refused;
        }
        for (int64_t i = first; i <= last; i++)
            (*marks)[i] = true;
        if (*at == 0)
            return true;
        if (*at != ',')
            break;
    }
    refuse(why, "%s %.60s: a list such as 0,2-4 is right", option, text);
refused:
    free(*marks);
    *marks = NULL;
    return false;
}

bool parse_real(const char *option, const char *text, double *x, struct message *why)
{
    char *end;
    errno = 0;
    *x = strtod(text, &end);
    if (end == text || *end != 0)
        return refuse(why, "%s %.40s: a number is right", option, text);
    if (errno == ERANGE && (*x == 0 || isinf(*x)))
        return refuse(why, "%s %.40s: a number that a double can hold is right", option, text);
    return true;
}

bool each_line(const char *lines, bool (*take)(void *with, const char *line, struct message *why),
               void *with, struct message *why)
{
    bool ok = true;
    for (const char *at = lines; ok && at != NULL; at = strchr(at, '\n')) {
        char *line = NULL;
        at += at > lines; /* past the line break */
        text_append(&line, "%.*s", (int)strcspn(at, "\n"), at);
        ok = take(with, line, why);
        free(line);
    }
    return ok;
}

void text_append_list(char **text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    size_t old = *text != NULL ? strlen(*text) : 0;
    size_t length = (size_t)vsnprintf(NULL, 0, format, arguments);
    char *more = realloc(*text, old + length + 1);
    if (more == NULL)
        abort();
    vsnprintf(more + old, length + 1, format, again);
    *text = more;
    va_end(again);
}

void text_append(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_append_list(text, format, arguments);
    va_end(arguments);
}

void text_wrapped(char **text, int column, int indent, const char *words)
{
    enum { WIDTH = 79 };
    bool first = true;
    while (*words != 0) {
        int length = (int)strcspn(words, " ");
        bool fits = first || column + 1 + length <= WIDTH;
        if (fits)
            text_append(text, "%s%.*s", first ? "" : " ", length, words);
        else
            text_append(text, "\n%*s%.*s", indent, "", length, words);
        column = (fits ? column + !first : indent) + length;
        first = false;
        words += length + (words[length] == ' ');
    }
    text_append(text, "\n");
}

struct grouped grouped(int64_t n)
{
    struct grouped g;
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, n), to = 0;
    for (int i = 0; i < length; i++) {
        int left = length - i;
        if (i > 0 && digits[i - 1] != '-' && left % 3 == 0)
            g.text[to++] = ',';
        g.text[to++] = digits[i];
    }
    g.text[to] = 0;
    return g;
}
