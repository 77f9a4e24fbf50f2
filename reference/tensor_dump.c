/* tensor_dump.c: see tensor_dump.h.  Positional arguments are named by the call's signature, which
   the logger writes as Python prints it. */
#include "reference/tensor_dump.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/tensor_file.h"

enum { MOST_METADATA = 64 << 20, PATH_ROOM = 4096, NAME_ROOM = 128 };

static bool in_folder(const char *folder, const char *name, char *path, struct message *why)
{
    int length = snprintf(path, PATH_ROOM, "%s/%s", folder, name);
    return (length > 0 && length < PATH_ROOM) ||
           refuse(why, "%.200s...: the path is too long", folder);
}

bool dump_folder(const char *folder)
{
    char path[PATH_ROOM];
    struct message ignored;
    struct stat info;
    return in_folder(folder, "metadata.jsonl", path, &ignored) && stat(path, &info) == 0 &&
           S_ISREG(info.st_mode);
}

/* The last line that is not empty, as JSON; NULL with a sentence. */
static cJSON *last_record(const char *path, struct message *why)
{
    unsigned char *bytes;
    size_t size;
    if (!file_read(path, MOST_METADATA, &bytes, &size, why))
        return NULL;
    const char *text = (const char *)bytes;
    size_t end = size, start;
    while (end > 0 && strchr(" \t\r\n", text[end - 1]) != NULL && text[end - 1] != 0)
        end--;
    for (start = end; start > 0 && text[start - 1] != '\n'; start--)
        ;
    cJSON *json = cJSON_ParseWithLength(text + start, end - start);
    free(bytes);
    if (cJSON_IsObject(json))
        return json;
    cJSON_Delete(json);
    refuse(why, "%s: its last line is no JSON object", path);
    return NULL;
}

/* The n-th parameter of "(self, q: torch.Tensor, k: Tuple[a, b] = (1, 2), *args, x=3)"; false:
   there are not so many before '*'. */
static bool parameter(const char *signature, int n, char *name)
{
    const char *at = signature + (*signature == '(');
    int depth = 0;
    for (char quote = 0; *at != 0 && n > 0; at++) {
        if (quote != 0)
            quote = *at == quote ? 0 : quote;
        else if (*at == '\'' || *at == '"')
            quote = *at;
        else if (strchr("([{", *at) != NULL)
            depth++;
        else if (strchr(")]}", *at) != NULL)
            depth--;
        if (depth < 0)
            return false; /* behind the last one */
        n -= quote == 0 && depth == 0 && *at == ',';
    }
    at += strspn(at, " ");
    size_t length = strcspn(at, ":=,) ");
    if (n > 0 || length == 0 || length >= NAME_ROOM || *at == '*' || *at == '/')
        return false;
    snprintf(name, NAME_ROOM, "%.*s", (int)length, at);
    return true;
}

/* No '*' stands among the parameters before the n-th, which would gather what follows. */
static bool named_by_place(const char *signature, int n)
{
    char name[NAME_ROOM];
    for (int i = 0; i <= n; i++)
        if (!parameter(signature, i, name))
            return false;
    return true;
}

/* "arg_2__0" and "kwarg_k" as "paged_kv_cache.0" and "k". */
static bool argument_name(const char *key, const char *signature, char *name, struct message *why)
{
    const char *part = strstr(key, "__");
    size_t length = part != NULL ? (size_t)(part - key) : strlen(key);
    char head[NAME_ROOM];
    if (length >= sizeof head)
        return refuse(why, "an argument of %zu characters", length);
    snprintf(head, sizeof head, "%.*s", (int)length, key);
    if (strncmp(key, "kwarg_", 6) == 0) {
        part = NULL;
        snprintf(head, sizeof head, "%s", key + 6);
        for (char *at = head; *at != 0; at++)
            if (at[0] == '_' && at[1] == '_' && at[2] >= '0' && at[2] <= '9') {
                *at = 0;
                part = key + 6 + (at - head);
                break;
            }
    } else if (strncmp(key, "arg_", 4) == 0) {
        int n = atoi(key + 4);
        if (n < 0 || n > 64 || !named_by_place(signature, n))
            snprintf(head, sizeof head, "args_%d", n);
        else
            parameter(signature, n, head);
    } else {
        return refuse(why, "'%.60s' is neither arg_N nor kwarg_NAME", key);
    }
    return snprintf(name, NAME_ROOM, "%s%s%s", head, part != NULL ? "." : "",
                    part != NULL ? part + 2 : "") < NAME_ROOM ||
           refuse(why, "'%.60s' is too long a name", key);
}

/* A plain argument as text; NULL: it is none. */
static const char *plain(const cJSON *value, char *room, size_t size)
{
    if (cJSON_IsBool(value))
        return cJSON_IsTrue(value) ? "true" : "false";
    if (cJSON_IsString(value))
        return value->valuestring;
    if (!cJSON_IsNumber(value))
        return NULL;
    snprintf(room, size, "%.17g", value->valuedouble);
    return room;
}

static const char *text_of(const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

static char *copied(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy == NULL)
        abort();
    return memcpy(copy, text, size);
}

/* Every plain argument; of the others only that they were given: "?". */
static bool take_arguments(const cJSON *json, const char *signature, struct bundle *b,
                           struct message *why)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "input_metadata"), *item;
    cJSON_ArrayForEach(item, all)
    {
        char name[NAME_ROOM], number[40];
        const char *value = plain(item, number, sizeof number);
        if (cJSON_IsNull(item))
            continue;
        if (item->string == NULL || !argument_name(item->string, signature, name, why) ||
            !bundle_add_meta(b, name, value != NULL ? value : "?", why))
            return false;
    }
    return true;
}

static bool take_head(const cJSON *json, const char *path, struct dump *d, char **signature,
                      struct message *why)
{
    const char *function = text_of(json, "function_name"),
               *status = text_of(json, "execution_status");
    const char *form = text_of(json, "function_signature");
    const cJSON *owner = cJSON_GetObjectItemCaseSensitive(json, "self_id");
    struct message cause;
    char number[40];
    if (function == NULL || form == NULL)
        return refuse(why, "%s: no function_name or function_signature in its last line", path);
    d->function = copied(function);
    d->status = copied(status != NULL ? status : "unknown");
    d->owner = copied(cJSON_IsNumber(owner) ? plain(owner, number, sizeof number) : "");
    d->graph = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "graph_capture"));
    *signature = copied(form);
    return take_arguments(json, form, &d->inputs, &cause) ||
           refuse(why, "%s: %s", path, cause.text);
}

static bool read_head(const char *folder, struct dump *d, char **signature, struct message *why)
{
    char path[PATH_ROOM];
    *d = (struct dump){0};
    *signature = NULL;
    if (!in_folder(folder, "metadata.jsonl", path, why))
        return false;
    cJSON *json = last_record(path, why);
    bool ok = json != NULL && take_head(json, path, d, signature, why);
    cJSON_Delete(json);
    if (!ok)
        dump_free(d);
    return ok;
}

/* The tensors of a file, those without data left out. */
static bool read_tensors(const char *folder, const char *file, struct bundle *b,
                         struct message *why)
{
    char path[PATH_ROOM], torch[PATH_ROOM];
    struct source s;
    enum file_kind kind;
    if (!in_folder(folder, file, path, why) || !in_folder(folder, "inputs.pt", torch, why))
        return false;
    if (access(path, F_OK) != 0 && access(torch, F_OK) == 0)
        return refuse(why,
                      "%s holds .pt files, which can run code and are not read; dump with "
                      "FLASHINFER_DUMP_SAFETENSORS=1",
                      folder);
    if (!source_open(&s, path, why))
        return false;
    bool ok = source_kind(&s, &kind, why) &&
              (kind == FILE_SAFETENSORS ? safetensors_read(&s, READ_DUMP, b, why)
                                        : refuse_kind(why, &s, kind));
    source_close(&s);
    int kept = 0;
    for (int i = 0; ok && i < b->count; i++)
        if (b->tensors[i].tensor.data != NULL)
            b->tensors[kept++] = b->tensors[i];
    b->count = ok ? kept : b->count;
    return ok;
}

static bool name_tensors(const char *folder, const char *signature, struct bundle *b,
                         struct message *why)
{
    struct message cause;
    for (int i = 0; i < b->count; i++) {
        char name[NAME_ROOM];
        if (!argument_name(b->tensors[i].name, signature, name, &cause))
            return refuse(why, "%s/inputs.safetensors: %s", folder, cause.text);
        memcpy(b->tensors[i].name, name, sizeof name);
    }
    return true;
}

bool dump_read_head(const char *folder, struct dump *d, struct message *why)
{
    char *signature;
    bool ok = read_head(folder, d, &signature, why);
    free(signature);
    return ok;
}

/* A call that returns no tensor leaves no file. */
static bool has_outputs(const char *folder, const struct dump *d)
{
    char path[PATH_ROOM];
    struct message ignored;
    return strcmp(d->status, "completed") == 0 &&
           in_folder(folder, "outputs.safetensors", path, &ignored) && access(path, F_OK) == 0;
}

bool dump_read(const char *folder, struct dump *d, struct message *why)
{
    char *signature;
    bool ok = read_head(folder, d, &signature, why);
    struct bundle tensors = {0};
    if (ok) {
        ok = read_tensors(folder, "inputs.safetensors", &tensors, why) &&
             name_tensors(folder, signature, &tensors, why);
        d->inputs.tensors = tensors.tensors; /* its plain arguments are metadata already */
        d->inputs.count = tensors.count;
        tensors.tensors = NULL;
        tensors.count = 0;
        ok = ok && (!has_outputs(folder, d) ||
                    read_tensors(folder, "outputs.safetensors", &d->outputs, why));
        bundle_free(&tensors);
        if (!ok)
            dump_free(d);
    }
    free(signature);
    return ok;
}

void dump_free(struct dump *d)
{
    free(d->function);
    free(d->owner);
    free(d->status);
    bundle_free(&d->inputs);
    bundle_free(&d->outputs);
    *d = (struct dump){0};
}
