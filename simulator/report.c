/* report.c: reports in their three forms; see report.h. */
#include "simulator/report.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator/scenario_parts.h"

static cJSON *tree(struct json *j)
{
    return (cJSON *)j;
}

/* Puts an item into an object, or at the end of a list. */
static struct json *attach(struct json *to, const char *key, cJSON *item)
{
    if (item == NULL)
        abort(); /* no memory for a few bytes */
    if (key != NULL)
        cJSON_AddItemToObject(tree(to), key, item);
    else
        cJSON_AddItemToArray(tree(to), item);
    return (struct json *)item;
}

/* JSON is UTF-8; names of files may be any bytes: what is no character becomes '?'. */
void json_string(struct json *to, const char *key, const char *text)
{
    char *valid = NULL;
    text_append(&valid, "%s", text);
    for (char *at = valid; *at != 0;) {
        int length = utf8_length(at);
        if (length == 0)
            *at = '?';
        at += length > 0 ? length : 1;
    }
    attach(to, key, cJSON_CreateString(valid));
    free(valid);
}

void json_whole(struct json *to, const char *key, int64_t x)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, x);
    attach(to, key, cJSON_CreateRaw(text));
}

void json_real(struct json *to, const char *key, double x)
{
    struct number_text text = number_text(FORMAT_FP64, x);
    attach(to, key, isfinite(x) ? cJSON_CreateRaw(text.text) : cJSON_CreateString(text.text));
}

void json_truth(struct json *to, const char *key, bool x)
{
    attach(to, key, cJSON_CreateBool(x));
}

struct json *json_list(struct json *to, const char *key)
{
    return attach(to, key, cJSON_CreateArray());
}

struct json *json_object(struct json *to, const char *key)
{
    return attach(to, key, cJSON_CreateObject());
}

struct number_text number_text(enum format f, double x)
{
    struct number_text n;
    bool narrow = f != FORMAT_FP64 && f != FORMAT_EXACT && f != FORMAT_FP32 && f != FORMAT_FP32_FTZ;
    int least = narrow ? 9 : 6, most = 17;
    if (isnan(x) || isinf(x)) {
        snprintf(n.text, sizeof n.text, "%s", isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
        return n;
    }
    for (int digits = least; digits <= most; digits++) {
        snprintf(n.text, sizeof n.text, "%.*g", digits, x);
        double back = strtod(n.text, NULL);
        if (back == x ||
            (f != FORMAT_FP64 && f != FORMAT_EXACT && format_round(f, back, false) == x))
            break;
    }
    return n;
}

void report_new(struct report *r, const struct scenario *s)
{
    char *command = scenario_command(s);
    *r = (struct report){.scenario = s, .json = (struct json *)cJSON_CreateObject()};
    if (r->json == NULL)
        abort();
    json_whole(r->json, "schema", 1);
    json_string(r->json, "command", command);
    free(command);
}

void report_free(struct report *r)
{
    cJSON_Delete(tree(r->json));
    page_free(r->page);
    page_free(r->picture);
    free(r->text);
    free(r->table);
    for (int i = 0; i < r->made_count; i++)
        free(r->made[i]);
    *r = (struct report){0};
}

struct page *report_picture(struct report *r)
{
    if (r->picture == NULL)
        r->picture = page_new(r->scenario->verb);
    return r->picture;
}

void report_text(struct report *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_append_list(&r->text, format, arguments);
    va_end(arguments);
}

/* A table may have millions of rows: its length is kept and its room doubled. */
void report_row(struct report *r, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t length = (size_t)vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (r->table_length + length + 2 > r->table_room) {
        r->table_room = 2 * (r->table_length + length + 2);
        r->table = realloc(r->table, r->table_room);
        if (r->table == NULL)
            abort();
    }
    vsnprintf(r->table + r->table_length, length + 1, format, again);
    va_end(again);
    r->table_length += length + 1;
    r->table[r->table_length - 1] = '\n';
    r->table[r->table_length] = 0;
}

char *json_text(const struct json *j)
{
    char *text = cJSON_Print((const cJSON *)j);
    if (text == NULL)
        abort();
    return text;
}

const char *report_cjson_version(void)
{
    return cJSON_Version();
}
