/* dump_find.c: folders of dumped calls.  Their names begin with the time of the call, so that their
   order is that of the calls. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "simulator/dump.h"
#include "simulator/scenario_parts.h"

enum { MOST_CALLS = 65536 };

bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

struct names {
    char **name;
    size_t count, room;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_free(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->name[i]);
    free(n->name);
}

/* The folders of calls in `folder`, sorted. */
static bool list_calls(const char *folder, struct names *n, struct message *why)
{
    DIR *open = opendir(folder);
    struct dirent *entry;
    *n = (struct names){0};
    if (open == NULL)
        return refuse(why, "%.200s: the folder cannot be read", folder);
    while ((entry = readdir(open)) != NULL && n->count < MOST_CALLS) {
        char *path = NULL;
        text_append(&path, "%s/%s", folder, entry->d_name);
        bool call = entry->d_name[0] != '.' && dump_folder(path);
        free(path);
        if (!call)
            continue;
        if (n->count == n->room) {
            n->room = 2 * n->room + 16;
            n->name = realloc(n->name, n->room * sizeof *n->name);
            if (n->name == NULL)
                abort();
        }
        n->name[n->count] = NULL;
        text_append(&n->name[n->count++], "%s", entry->d_name);
    }
    closedir(open);
    if (n->count > 0)
        qsort(n->name, n->count, sizeof *n->name, by_name);
    return true;
}

static bool is_run(const char *name)
{
    return strstr(name, ".plan_") == NULL && strstr(name, "__init__") == NULL &&
           strstr(name, "begin_forward") == NULL;
}

char *dump_find_call(const char *folder, struct message *why)
{
    struct names n;
    char *found = NULL, *first = NULL;
    int runs = 0;
    if (dump_folder(folder)) {
        text_append(&found, "%s", folder);
        return found;
    }
    if (!list_calls(folder, &n, why))
        return NULL;
    for (size_t i = 0; i < n.count; i++)
        if (is_run(n.name[i])) {
            first = n.name[i];
            runs++;
        }
    if (runs == 1)
        text_append(&found, "%s/%s", folder, first);
    else if (runs == 0)
        refuse(why,
               "%.200s: neither it nor a folder in it has a metadata.jsonl, as FlashInfer "
               "dumps a call",
               folder);
    else
        refuse(why,
               "%.200s holds %d dumped calls; one of its folders is right, such as "
               "%.100s/%.100s",
               folder, runs, folder, first);
    names_free(&n);
    return found;
}

/* "DIR/CALL" and "DIR/CALL/graph_flushes/flush_0001" lie in DIR, as CALL. */
static void split_path(const char *folder, char **parent, char **name)
{
    char *copy = NULL, *flush;
    text_append(&copy, "%s", folder);
    size_t length = strlen(copy);
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = 0;
    if ((flush = strstr(copy, "/graph_flushes/")) != NULL)
        *flush = 0;
    char *slash = strrchr(copy, '/');
    *parent = *name = NULL;
    text_append(name, "%s", slash != NULL ? slash + 1 : copy);
    if (slash != NULL)
        *slash = 0;
    text_append(parent, "%s", slash == NULL ? "." : slash == copy ? "/" : copy);
    free(copy);
}

/* "Wrapper.plan" of the object whose method `call` is. */
static bool same_object(const struct dump *call, const struct dump *other, const char *methods)
{
    const char *dot = strrchr(call->function, '.'), *theirs = strrchr(other->function, '.');
    if (dot == NULL || theirs == NULL || theirs - other->function != dot - call->function ||
        strncmp(call->function, other->function, (size_t)(dot - call->function)) != 0 ||
        strcmp(call->owner, other->owner) != 0)
        return false;
    for (const char *at = methods; *at != 0;) {
        size_t length = strcspn(at, " ");
        if (strlen(theirs + 1) == length && strncmp(theirs + 1, at, length) == 0)
            return true;
        at += length + (at[length] == ' ');
    }
    return false;
}

bool dump_find_earlier(const char *folder, const struct dump *call, const char *methods,
                       bool tensors, struct dump *earlier, struct message *why)
{
    char *parent, *name;
    struct names n;
    struct message ignored;
    bool found = false;
    why->text[0] = 0;
    split_path(folder, &parent, &name);
    if (list_calls(parent, &n, why)) {
        for (size_t i = n.count; i-- > 0 && !found && why->text[0] == 0;) {
            char *path = NULL;
            if (strcmp(n.name[i], name) >= 0)
                continue;
            text_append(&path, "%s/%s", parent, n.name[i]);
            if (dump_read_head(path, earlier, &ignored)) {
                found = same_object(call, earlier, methods);
                if (!found || tensors)
                    dump_free(earlier);
                if (found && tensors)
                    found = dump_read(path, earlier, why);
            }
            free(path);
        }
        names_free(&n);
    }
    free(parent);
    free(name);
    return found;
}
