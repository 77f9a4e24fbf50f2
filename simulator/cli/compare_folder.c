/* compare_folder.c: two folders and all below them: tensor files matched by relative path, in the
   order of their bytes.

   A link to a folder is not entered (it may lead back up); a link to a file is that file. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "simulator/cli/compare.h"
#include "simulator/scenario_parts.h"

enum { DEEPEST = 64 };

/* The tensor files of a folder, by relative path; how many files are of other kinds. */
struct tree {
    char **name;
    int count, room;
    int64_t others, links;
};

static void tree_free(struct tree *t)
{
    for (int i = 0; i < t->count; i++)
        free(t->name[i]);
    free(t->name);
}

static char *joined(const char *folder, const char *name)
{
    char *path = NULL;
    size_t length = strlen(folder);
    text_append(&path, "%s%s%s", folder, length > 0 && folder[length - 1] != '/' ? "/" : "", name);
    return path;
}

static void add_name(struct tree *t, char *name)
{
    if (t->count == t->room) {
        t->room = t->room > 0 ? 2 * t->room : 64;
        t->name = realloc(t->name, (size_t)t->room * sizeof *t->name);
        if (t->name == NULL)
            abort();
    }
    t->name[t->count++] = name;
}

static bool is_tensor_file(const char *name)
{
    return ends_with(name, ".npy") || ends_with(name, ".npz") || ends_with(name, ".safetensors");
}

static bool read_folder(struct tree *t, const char *root, const char *below, int depth,
                        struct message *why);

/* One entry of a folder, `name` from the root on. */
static bool read_entry(struct tree *t, const char *root, char *name, int depth, struct message *why)
{
    struct stat info, target;
    char *path = joined(root, name);
    bool ok = true, link;
    bool known = lstat(path, &info) == 0;
    link = known && S_ISLNK(info.st_mode);
    if (known && S_ISDIR(info.st_mode))
        ok = read_folder(t, root, name, depth + 1, why);
    else if (link && stat(path, &target) == 0 && S_ISDIR(target.st_mode))
        t->links++;
    else if (is_tensor_file(name))
        add_name(t, joined("", name));
    else
        t->others++;
    free(path);
    return ok;
}

static bool read_folder(struct tree *t, const char *root, const char *below, int depth,
                        struct message *why)
{
    char *path = below[0] != 0 ? joined(root, below) : joined("", root);
    DIR *folder = depth <= DEEPEST ? opendir(path) : NULL;
    const struct dirent *entry;
    bool ok = true;
    if (depth > DEEPEST)
        ok = refuse(why, "%.300s: more than %d folders inside one another", root, DEEPEST);
    else if (folder == NULL)
        ok = refuse(why, "%.300s: cannot be read: %s", path, strerror(errno));
    while (ok && (entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *name = joined(below, entry->d_name);
        ok = read_entry(t, root, name, depth, why);
        free(name);
    }
    if (folder != NULL)
        closedir(folder);
    free(path);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool tree_read(struct tree *t, const char *root, struct message *why)
{
    *t = (struct tree){0};
    if (!read_folder(t, root, "", 0, why))
        return false;
    if (t->count > 0)
        qsort(t->name, (size_t)t->count, sizeof *t->name, by_name);
    return true;
}

/* The file `name` of both folders, and of --exact's. */
static bool compare_both(struct compare_job *job, const char *name, struct message *why)
{
    const struct scenario *s = job->scenario;
    char *got = joined(s->problem, name), *want = joined(s->other, name), *exact = NULL;
    if (s->value[OPTION_EXACT] != NULL)
        exact = joined(s->value[OPTION_EXACT], name);
    job->file = compare_printable(name);
    bool ok = compare_files(job, got, want, exact, why);
    report_text(job->report, "\n");
    free(job->file);
    job->file = NULL;
    free(got);
    free(want);
    free(exact);
    return ok;
}

static void say_lonely(struct compare_job *job, const char *name, const char *side)
{
    struct json *j = json_object(job->files, NULL);
    char *label = compare_printable(name);
    report_text(job->report, "%s   is only in %s\n\n", label, side);
    free(label);
    page_not_established(job->report->page, "%s: it is only in %s", name, side);
    json_string(j, "name", name);
    json_string(j, "only_in", side);
    job->missing++;
}

static void say_left_out(struct compare_job *job, const struct tree *t, const char *root)
{
    if (t->others > 0)
        report_text(job->report, " not compared        %s: files of other kinds, %s\n", root,
                    grouped(t->others).text);
    if (t->links > 0)
        report_text(job->report, " not entered         %s: links to folders, %s\n", root,
                    grouped(t->links).text);
    if (t->others + t->links > 0)
        page_not_established(
            job->report->page,
            "%s: files of other kinds (%s) and links to folders (%s) are not compared", root,
            grouped(t->others).text, grouped(t->links).text);
}

bool compare_folders(struct compare_job *job, struct message *why)
{
    const struct scenario *s = job->scenario;
    struct tree got, want = {0};
    bool ok = tree_read(&got, s->problem, why) && tree_read(&want, s->other, why);
    for (int g = 0, w = 0; ok && (g < got.count || w < want.count);) {
        int order = g == got.count ? 1 : w == want.count ? -1 : strcmp(got.name[g], want.name[w]);
        if (order != 0)
            say_lonely(job, order < 0 ? got.name[g] : want.name[w], order < 0 ? "GOT" : "WANT");
        else if (compare_goes_on(job))
            ok = compare_both(job, got.name[g], why);
        g += order <= 0;
        w += order >= 0;
    }
    if (ok) {
        say_left_out(job, &got, s->problem);
        say_left_out(job, &want, s->other);
    }
    tree_free(&got);
    tree_free(&want);
    return ok;
}
