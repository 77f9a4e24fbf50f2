/* audit_line.c: one output on a line: the exact value, the boundary beside it, the runs. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/cli/audit.h"
#include "simulator/scenario_parts.h"

enum { WIDTH = 78 };

char audit_mark(const struct audit *a, int n)
{
    char taken[AUDIT_MOST_RUNS + 1] = "";
    for (int i = 0; i <= n; i++) {
        char mark = '0' + (char)(i % 10);
        for (const char *c = a->run[i].name; *c != 0; c++) {
            char letter = (char)toupper((unsigned char)*c);
            if (isupper((unsigned char)letter) && letter != 'E' && strchr(taken, letter) == NULL) {
                mark = letter;
                break;
            }
        }
        taken[i] = mark;
    }
    return taken[n];
}

struct boundary audit_boundary(const struct audit *a)
{
    struct boundary found = {NAN, NAN, false};
    for (int n = 0; n < a->runs; n++) {
        const struct audit_run *run = &a->run[n];
        if (run->before == NULL || run->format_place != 0)
            continue;
        struct boundary b =
            truth_boundary(&a->truth[0], run->format, audit_correct(a, run, 0), run->before[0]);
        if (isnan(found.at) || (b.crossed && !found.crossed))
            found = b;
    }
    return found;
}

/* Ends a little beyond the outermost points, as multiples of a round step. */
static void ends_of(const struct audit *a, double middle, double *low, double *high)
{
    double x = a->truth[0].value[0];
    *low = fmin(x, middle);
    *high = fmax(x, middle);
    for (int n = 0; n < a->runs; n++) {
        if (a->run[n].before == NULL)
            continue;
        *low = fmin(*low, a->run[n].before[0]);
        *high = fmax(*high, a->run[n].before[0]);
    }
    double step = pow(10, floor(log10(*high - *low)) - (*high - *low > 0 ? 0 : 1));
    step = step > 0 && isfinite(step) ? step / 5 : 1;
    *low = floor(*low / step) * step;
    *high = ceil(*high / step) * step;
}

static int place(double x, double low, double high)
{
    int at = (int)floor((x - low) / (high - low) * (WIDTH - 3) + 0.5) + 1;
    return at < 0 ? 0 : at > WIDTH - 1 ? WIDTH - 1 : at;
}

/* Puts a mark, beside the place when that is taken; '|' never gives way. */
static void put(char *line, int at, char mark)
{
    while (at < WIDTH - 1 && line[at] != '-')
        at++;
    while (at > 0 && line[at] != '-')
        at--;
    line[at] = mark;
}

void audit_say_line(char **text, const struct audit *a)
{
    const enum format f = a->format[0];
    struct boundary b = audit_boundary(a);
    double low, high;
    char line[WIDTH + 1], *words = NULL;
    if (isnan(b.at) || !isfinite(a->truth[0].value[0]))
        return;
    ends_of(a, b.at, &low, &high);
    if (!(high > low))
        return;
    memset(line, '-', WIDTH);
    line[WIDTH] = 0;
    line[place(b.at, low, high)] = '|';
    put(line, place(a->truth[0].value[0], low, high), 'E');
    for (int n = 0; n < a->runs; n++)
        if (a->run[n].before != NULL && isfinite(a->run[n].before[0]))
            put(line, place(a->run[n].before[0], low, high), audit_mark(a, n));
    double above = format_round(f, nextafter(b.at, INFINITY), false);
    double below = format_round(f, nextafter(b.at, -INFINITY), false);
    int column = place(b.at, low, high);
    char ends[2][32];
    snprintf(ends[0], sizeof ends[0], "%.6g", low);
    snprintf(ends[1], sizeof ends[1], "%.6g", high);
    text_append(text, "\n %s%*s\n %s\n", ends[0], WIDTH - (int)strlen(ends[0]), ends[1], line);
    text_append(&words, "' midpoint %.9g: left of it %s stores %s, right of it %s. E exact", b.at,
                format_info(f)->name, number_text(f, below).text, number_text(f, above).text);
    for (int n = 0; n < a->runs; n++)
        if (a->run[n].before != NULL)
            text_append(&words, ", %c %s", audit_mark(a, n), a->run[n].name);
    column = column < 36 ? column + 1 : 1;
    text_append(text, "%*s", column, "");
    text_wrapped(text, column, column + 2, words);
    free(words);
}
