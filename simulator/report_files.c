/* report_files.c: where reports go: the output, and files by their ending.

   What can be refused is refused before any work; see report.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simulator/report.h"
#include "simulator/scenario_parts.h"

bool ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

char *report_output(const struct scenario *s, int n)
{
    const char *at = s->value[OPTION_OUTPUT];
    for (; at != NULL && n > 0; n--) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    if (at == NULL)
        return NULL;
    size_t length = strcspn(at, "\n");
    char *path = malloc(length + 1);
    if (path == NULL)
        abort();
    memcpy(path, at, length);
    path[length] = 0;
    return path;
}

static bool check_ending(const char *path, const char *endings, struct message *why)
{
    char list[96] = "";
    for (const char *at = endings; *at != 0;) {
        char ending[24];
        size_t length = strcspn(at, " ");
        snprintf(ending, sizeof ending, ".%.*s", (int)length, at);
        if (ends_with(path, ending))
            return true;
        strncat(list, list[0] != 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, ending, sizeof list - strlen(list) - 1);
        at += length + (at[length] == ' ');
    }
    return refuse(why, "-o %.200s: the ending says what is written; one of %s is right", path,
                  list);
}

static bool check_path(const char *option, const char *path, bool force, struct message *why)
{
    struct stat info;
    char folder[1024];
    const char *slash = strrchr(path, '/');
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return refuse(why, "%s %.200s: not a regular file; name a new file", option, path);
    if (!force && lstat(path, &info) == 0)
        return refuse(why, "%s %.200s exists; give --force to replace it", option, path);
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path + 1) : 1,
             slash != NULL ? path : ".");
    if (access(folder, W_OK | X_OK) != 0)
        return refuse(why, "%s %.200s: cannot be created: %s", option, path, strerror(errno));
    return true;
}

/* The paths a command may write, with the options that name them. */
struct outputs {
    int count;
    const char *option[20];
    char *path[20];
};

static bool check_all(const struct outputs *o, const char *endings, bool force, struct message *why)
{
    for (int i = 0; i < o->count; i++) {
        if (strcmp(o->option[i], "-o") == 0 && !check_ending(o->path[i], endings, why))
            return false;
        if (!check_path(o->option[i], o->path[i], force, why))
            return false;
        for (int j = 0; j < i; j++)
            if (strcmp(o->path[i], o->path[j]) == 0)
                return refuse(why, "%s and %s both name %.200s", o->option[j], o->option[i],
                              o->path[i]);
    }
    return true;
}

bool report_check_outputs(const struct scenario *s, const char *endings, const enum option *others,
                          int other_count, struct message *why)
{
    struct outputs o = {0};
    char *path;
    bool ok = true;
    for (int n = 0; ok && (path = report_output(s, n)) != NULL; n++) {
        if (o.count == 12) {
            free(path);
            ok = refuse(why, "-o: at most 12 files");
            break;
        }
        o.option[o.count] = "-o";
        o.path[o.count++] = path;
    }
    for (int i = 0; ok && i < other_count; i++) {
        if (s->value[others[i]] == NULL)
            continue;
        o.option[o.count] = option_info(others[i])->name;
        text_append(&o.path[o.count++], "%s", s->value[others[i]]);
    }
    ok = ok && check_all(&o, endings, s->given[OPTION_FORCE], why);
    for (int i = 0; i < o.count; i++)
        free(o.path[i]);
    return ok;
}

bool report_wants(const struct scenario *s, const char *ending)
{
    char *path;
    bool wanted = false;
    for (int n = 0; (path = report_output(s, n)) != NULL; n++) {
        wanted = wanted || ends_with(path, ending);
        free(path);
    }
    return wanted;
}

void report_making(struct report *r, const char *path)
{
    struct stat info;
    const int room = sizeof r->made / sizeof r->made[0];
    if (r->made_count < room && lstat(path, &info) != 0)
        text_append(&r->made[r->made_count++], "%s", path);
}

void report_undo(struct report *r)
{
    for (int i = 0; i < r->made_count; i++) {
        unlink(r->made[i]);
        free(r->made[i]);
        r->made[i] = NULL;
    }
    r->made_count = 0;
}

static void write_markdown(FILE *out, const struct report *r)
{
    if (r->page != NULL) {
        page_write_markdown(out, r->page);
        return;
    }
    char *command = scenario_command(r->scenario);
    fprintf(out, "# flashulp %s\n\n```\n$ %s\n%s```\n", r->scenario->verb, command, r->text);
    free(command);
}

static void write_json(FILE *out, const struct report *r)
{
    char *text = json_text(r->json);
    fprintf(out, "%s\n", text);
    free(text);
}

static bool write_file(struct report *r, const char *path, struct message *why)
{
    struct output_file f;
    const struct page *drawn = r->picture != NULL ? r->picture : r->page;
    if (ends_with(path, ".svg") && !page_has_figure(drawn))
        return refuse(why, "-o %.300s: there is nothing to draw here", path);
    if (!file_begin(&f, path, r->scenario->given[OPTION_FORCE], why))
        return false;
    report_making(r, path);
    if (ends_with(path, ".json"))
        write_json(f.stream, r);
    else if (ends_with(path, ".md"))
        write_markdown(f.stream, r);
    else if (ends_with(path, ".html"))
        page_write_html(f.stream, r->page);
    else if (ends_with(path, ".svg"))
        page_write_svg(f.stream, drawn);
    else
        page_write_csv(f.stream, r->table != NULL ? r->table : "");
    return file_commit(&f, why);
}

static bool is_report(const char *path)
{
    return ends_with(path, ".json") || ends_with(path, ".md") || ends_with(path, ".csv") ||
           ends_with(path, ".html") || ends_with(path, ".svg");
}

/* The output, checked to its last byte: a full disk behind a pipe is a failure too. */
static bool print(const struct report *r, struct message *why)
{
    if (r->scenario->given[OPTION_JSON])
        write_json(stdout, r);
    else if (r->text != NULL)
        fputs(r->text, stdout);
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    return refuse(why, "the output cannot be written: %s", strerror(errno != 0 ? errno : EIO));
}

bool report_finish(struct report *r, struct message *why)
{
    char *path;
    bool ok = true;
    for (int n = 0; ok && (path = report_output(r->scenario, n)) != NULL; n++) {
        ok = !is_report(path) || write_file(r, path, why);
        free(path);
    }
    ok = ok && print(r, why);
    if (!ok)
        report_undo(r);
    return ok;
}
