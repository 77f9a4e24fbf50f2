/* message.c: one sentence per refusal, and "did you mean". */
#include "reference/message.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool refuse(struct message *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return false;
}

struct quoted quoted(const char *text, size_t length)
{
    enum { MOST = 60 };
    struct quoted q = {""};
    for (size_t i = 0; i < length && i < MOST; i++)
        q.text[i] = text[i] >= 32 && text[i] < 127 ? text[i] : '?';
    if (length > MOST)
        memcpy(q.text + MOST, "...", 4);
    return q;
}

int utf8_length(const char *s)
{
    const unsigned char *c = (const unsigned char *)s;
    int length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    for (int i = 1; i < length; i++)
        if (c[i] >> 6 != 2)
            return 0;
    bool overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    bool surrogate = c[0] == 0xED && c[1] > 0x9F;
    bool beyond = c[0] > 0xF4 || (c[0] == 0xF4 && c[1] > 0x8F);
    return overlong || surrogate || beyond ? 0 : length;
}

/* Letters to insert, delete or replace between a and b, case ignored (Levenshtein); names longer
   than the table count as far. */
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 48 };
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    int row[LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            int best = diagonal + !same;
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[m];
}

const char *nearest_name(const char *word, const char *const *names, int count)
{
    const char *nearest = NULL;
    int least = 0;
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(word, names[i]);
        if (nearest == NULL || distance < least) {
            nearest = names[i];
            least = distance;
        }
    }
    return nearest != NULL && 3 * least <= (int)strlen(word) + 1 ? nearest : NULL;
}
