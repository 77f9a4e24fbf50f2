/* report.h: what a verb says: as text, as JSON, as a table; on the output and in files.

   A verb fills all three; report_finish prints text or JSON and writes every -o by its ending:
   .json the object, .csv the table, .md the text with the command.  A verb that also fills a page
   (report_page.h) gets it as .html, and as .md in the text's place; its figures as .svg.  A verb
   without a page may have a picture: figures for .svg alone.
   Files come first and are undone when a later one fails, so a refused command leaves nothing new
   behind. */
#ifndef FLASHULP_REPORT_H
#define FLASHULP_REPORT_H

#include "simulator/report_page.h"
#include "simulator/scenario.h"

struct json; /* an object or a list; freed with its report */

struct report {
    const struct scenario *scenario;
    struct json *json; /* "schema": 1, "command" */
    char *text;        /* lines of at most 80 columns, ASCII */
    char *table;       /* rows of cells separated by tabs */
    size_t table_length, table_room;
    struct page *page, *picture; /* or NULL; freed with the report */
    int made_count;    /* files this command created */
    char *made[16];
};

void report_new(struct report *r, const struct scenario *s);
void report_free(struct report *r);

void report_text(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One row; cells are separated by tabs. */
void report_row(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The picture, made when it is first asked for. */
struct page *report_picture(struct report *r);

/* Members of an object (key) or, with key NULL, elements of a list. */
void json_string(struct json *to, const char *key, const char *text);
void json_whole(struct json *to, const char *key, int64_t x);
/* The shortest text that gives x back; "nan", "inf", "-inf" as strings. */
void json_real(struct json *to, const char *key, double x);
void json_truth(struct json *to, const char *key, bool x);
struct json *json_list(struct json *to, const char *key);
struct json *json_object(struct json *to, const char *key);
/* The whole as text, malloc'ed. */
char *json_text(const struct json *j);

/* The cJSON that is linked: "1.7.15". */
const char *report_cjson_version(void);

/* x in at least enough digits to be known again in f. */
struct number_text {
    char text[32];
};
struct number_text number_text(enum format f, double x);

/* Before any work: may every -o be written, is its ending one of `endings` ("json md csv trace")?
   Also the paths of other options, whose endings are checked by whoever writes them. */
bool report_check_outputs(const struct scenario *s, const char *endings, const enum option *others,
                          int other_count, struct message *why);
/* The n-th -o, malloc'ed; NULL behind the last. */
char *report_output(const struct scenario *s, int n);
/* Does an -o end so? */
bool report_wants(const struct scenario *s, const char *ending);
bool ends_with(const char *path, const char *ending);

/* The file was written by this command: remembered, to be removed if something fails later.
   Call before writing it. */
void report_making(struct report *r, const char *path);
/* Prints and writes; on failure removes what this command made. */
bool report_finish(struct report *r, struct message *why);
void report_undo(struct report *r);

#endif
