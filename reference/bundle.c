/* bundle.c: named tensors and text metadata, and which reader a file goes to.

   What a file is, its first bytes say, not its name. */
#include "reference/tensor_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool refuse_torch(struct message *why, const char *path)
{
    return refuse(why,
                  "%s: a PyTorch file, which can run code and is not read; convert it: python3 -c "
                  "\"import sys, torch, safetensors.torch as s; s.save_file({k: v.contiguous() for "
                  "k, v in torch.load(sys.argv[1], map_location='cpu').items()}, sys.argv[2])\" "
                  "IN.pt OUT.safetensors",
                  path);
}

bool source_kind(const struct source *s, enum file_kind *kind, struct message *why)
{
    unsigned char head[9] = {0};
    uint64_t length;
    *kind = FILE_EMPTY;
    if (s->size == 0)
        return true;
    if (!source_read(s, 0, head, s->size < sizeof head ? s->size : sizeof head, why))
        return false;
    memcpy(&length, head, sizeof length);
    if (memcmp(head, "\x93NUMPY", 6) == 0)
        *kind = FILE_NPY;
    else if (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0)
        *kind = FILE_ZIP;
    else if (head[8] == '{')
        *kind = FILE_SAFETENSORS;
    else if (head[0] == 0x80 && 2 <= head[1] && head[1] <= 5)
        *kind = FILE_PICKLE;
    else
        *kind = FILE_UNKNOWN;
    return true;
}

bool refuse_kind(struct message *why, const struct source *s, enum file_kind kind)
{
    switch (kind) {
    case FILE_EMPTY:
        return refuse(why, "%s: the file is empty", s->path);
    case FILE_PICKLE:
        return refuse_torch(why, s->path);
    case FILE_NPY:
        return refuse(why, "%s: one .npy tensor; a file of several is wanted (.npz, .safetensors)",
                      s->path);
    case FILE_ZIP:
        if (zip_is_torch(s))
            return refuse_torch(why, s->path);
        return refuse(why, "%s: a zip file (.npz); one .npy tensor is wanted", s->path);
    case FILE_SAFETENSORS:
        return refuse(why, "%s: a .safetensors file; one .npy tensor is wanted", s->path);
    case FILE_UNKNOWN:
        break;
    }
    return refuse(why, "%s: neither .npy, .npz nor .safetensors, by its first bytes", s->path);
}

bool tensor_read_npy(const char *path, enum format words, struct tensor *t, struct message *took,
                     struct message *why)
{
    struct source s;
    enum file_kind kind;
    struct words met = {words, NULL};
    *t = (struct tensor){0};
    if (took != NULL)
        took->text[0] = 0;
    if (!source_open(&s, path, why))
        return false;
    bool ok = source_kind(&s, &kind, why) &&
              (kind == FILE_NPY ? npy_read(&s, 0, s.size, path, &met, t, why)
                                : refuse_kind(why, &s, kind));
    if (ok && took != NULL && met.name != NULL)
        snprintf(took->text, sizeof took->text, "%s taken as %s bits", met.name,
                 format_info(t->dtype)->name);
    source_close(&s);
    return ok;
}

bool bundle_read(const char *path, enum format words, struct bundle *b, struct message *took,
                 struct message *why)
{
    struct source s;
    enum file_kind kind;
    struct message unasked;
    *b = (struct bundle){0};
    took = took != NULL ? took : &unasked;
    took->text[0] = 0;
    if (!source_open(&s, path, why))
        return false;
    bool ok = source_kind(&s, &kind, why);
    if (ok && kind == FILE_ZIP)
        ok = npz_read(&s, words, READ_ELEMENTS, b, took, why);
    else if (ok && kind == FILE_SAFETENSORS)
        ok = safetensors_read(&s, READ_ELEMENTS, b, why);
    else if (ok)
        ok = refuse_kind(why, &s, kind);
    source_close(&s);
    if (!ok)
        bundle_free(b);
    return ok;
}

void bundle_free(struct bundle *b)
{
    for (int i = 0; i < b->count; i++)
        tensor_free(&b->tensors[i].tensor);
    for (int i = 0; i < b->meta_count; i++) {
        free(b->meta_keys[i]);
        free(b->meta_values[i]);
    }
    free(b->tensors);
    free(b->meta_keys);
    free(b->meta_values);
    *b = (struct bundle){0};
}

const struct tensor *bundle_find(const struct bundle *b, const char *name)
{
    for (int i = 0; i < b->count; i++)
        if (strcmp(b->tensors[i].name, name) == 0)
            return &b->tensors[i].tensor;
    return NULL;
}

const char *bundle_meta(const struct bundle *b, const char *key)
{
    for (int i = 0; i < b->meta_count; i++)
        if (strcmp(b->meta_keys[i], key) == 0)
            return b->meta_values[i];
    return NULL;
}

bool bundle_add(struct bundle *b, const char *name, const struct tensor *view, struct message *why)
{
    struct named_tensor entry = {.tensor = *view};
    size_t length = strlen(name);
    entry.tensor.owns_data = false;
    if (length == 0 || length >= sizeof entry.name || strcmp(name, "__metadata__") == 0)
        return refuse(why, "tensor name '%s': wants 1 to %zu characters, not __metadata__",
                      quoted(name, length).text, sizeof entry.name - 1);
    if (bundle_find(b, name) != NULL)
        return refuse(why, "tensor name '%s' is there already", quoted(name, length).text);
    memcpy(entry.name, name, length + 1);
    struct named_tensor *more = realloc(b->tensors, ((size_t)b->count + 1) * sizeof *more);
    if (more == NULL)
        return refuse(why, "tensor '%s': no memory", quoted(name, length).text);
    b->tensors = more;
    b->tensors[b->count++] = entry;
    return true;
}

/* Appends to one of the two lists of texts; the count moves when both have grown. */
static bool append_text(char ***list, int count, const char *text)
{
    char **more = realloc(*list, ((size_t)count + 1) * sizeof *more);
    if (more == NULL)
        return false;
    *list = more;
    return (more[count] = strdup(text)) != NULL;
}

bool bundle_add_meta(struct bundle *b, const char *key, const char *value, struct message *why)
{
    if (bundle_meta(b, key) != NULL)
        return refuse(why, "metadata '%s' is there already", quoted(key, strlen(key)).text);
    if (!append_text(&b->meta_keys, b->meta_count, key))
        return refuse(why, "metadata '%s': no memory", quoted(key, strlen(key)).text);
    if (!append_text(&b->meta_values, b->meta_count, value)) {
        free(b->meta_keys[b->meta_count]);
        return refuse(why, "metadata '%s': no memory", quoted(key, strlen(key)).text);
    }
    b->meta_count++;
    return true;
}
