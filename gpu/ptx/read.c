/* read.c: a PTX file, line by line: entries, their parameters, registers and labels.  nvcc writes
   one statement a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/ptx/reader.h"

enum { MOST_REGISTERS = 1 << 16 };

bool ptx_refuse(const struct ptx_reader *r, const char *what, const char *text)
{
    return refuse(r->why, "%s:%d: %s: %s", r->path, r->line, what,
                  quoted(text, strcspn(text, "\n")).text);
}

int ptx_label(struct ptx_reader *r, const char *text, size_t length)
{
    for (int i = 0; i < r->labels; i++)
        if (strlen(r->label[i].name) == length && memcmp(r->label[i].name, text, length) == 0)
            return i;
    r->label = realloc(r->label, (size_t)(r->labels + 1) * sizeof *r->label);
    if (r->label == NULL)
        abort();
    length = length < PTX_LABEL ? length : PTX_LABEL - 1;
    memcpy(r->label[r->labels].name, text, length);
    r->label[r->labels].name[length] = '\0';
    r->label[r->labels].at = -1;
    return r->labels++;
}

static bool entry_begins(struct ptx_reader *r, struct ptx_module *m, const char *text)
{
    const char *name = strstr(text, ".entry ") + strlen(".entry ");
    size_t length = strcspn(name, "( ");
    if (length == 0 || length >= PTX_NAME)
        return ptx_refuse(r, "an entry's name has 1 to 95 letters", text);
    m->kernel = realloc(m->kernel, (size_t)(m->count + 1) * sizeof *m->kernel);
    if (m->kernel == NULL)
        abort();
    r->kernel = &m->kernel[m->count++];
    memset(r->kernel, 0, sizeof *r->kernel);
    memcpy(r->kernel->name, name, length);
    r->kernel->path = r->path;
    r->banks = r->labels = r->code_room = 0;
    return true;
}

/* .param .u64 NAME   or   .param .align 8 .b8 NAME[80] */
static bool parameter(struct ptx_reader *r, const char *text)
{
    struct ptx_kernel *k = r->kernel;
    int align = 0, width = 0, count = 1;
    char type = 0;
    if (sscanf(text, " .param .align %d .b%d %*[^[][%d]", &align, &width, &count) != 3 &&
        sscanf(text, " .param .%c%d", &type, &width) != 2)
        return ptx_refuse(r, "this parameter is not known here", text);
    if (width % 8 != 0 || width < 8 || width > 64 || count < 1 || count > 4096 || align < 0 ||
        align > 64 || k->params == PTX_PARAMS)
        return ptx_refuse(r, "this parameter is not known here", text);
    size_t bytes = (size_t)width / 8 * (size_t)count, to = align > 0 ? (size_t)align : bytes;
    k->param_bytes = (k->param_bytes + to - 1) / to * to;
    k->param_at[k->params++] = k->param_bytes;
    k->param_bytes += bytes;
    return true;
}

static bool registers(struct ptx_reader *r, const char *text)
{
    int count = 0;
    char prefix[8];
    if (r->banks == PTX_BANKS || sscanf(text, " .reg .%*s %%%7[a-z]<%d>", prefix, &count) != 2 ||
        count < 1 || count > MOST_REGISTERS)
        return ptx_refuse(r, "these registers are not known here", text);
    memcpy(r->bank[r->banks].prefix, prefix, sizeof prefix);
    r->bank[r->banks].first = r->kernel->registers;
    r->bank[r->banks++].count = count;
    r->kernel->registers += count;
    return true;
}

static bool entry_ends(struct ptx_reader *r)
{
    struct ptx_kernel *k = r->kernel;
    for (int i = 0; i < k->count; i++) {
        if (k->code[i].kind != PTX_BRANCH)
            continue;
        const int label = k->code[i].target;
        k->code[i].target = r->label[label].at;
        if (k->code[i].target < 0 || k->code[i].target >= k->count)
            return ptx_refuse(r, "no instruction follows this label", r->label[label].name);
    }
    const struct ptx_instruction *last = k->count > 0 ? &k->code[k->count - 1] : NULL;
    if (last == NULL || last->guard >= 0 || (last->kind != PTX_RETURN && last->kind != PTX_BRANCH))
        return ptx_refuse(r, "the entry does not end with ret or bra", k->name);
    r->kernel = NULL;
    return true;
}

static bool body_line(struct ptx_reader *r, char *text)
{
    size_t length = strlen(text);
    if (strncmp(text, ".reg ", 5) == 0)
        return registers(r, text);
    if (strncmp(text, ".pragma", 7) == 0)
        return true;
    if (text[length - 1] == ':') {
        int label = ptx_label(r, text, length - 1);
        r->label[label].at = r->kernel->count;
        return true;
    }
    if (text[length - 1] != ';')
        return ptx_refuse(r, "this line is not known here", text);
    text[length - 1] = '\0';
    return ptx_instruction(r, text);
}

/* What stands between entries, or in the head of one. */
static bool outer_line(struct ptx_reader *r, struct ptx_module *m, const char *text)
{
    static const char *const skipped[] = {
        ".version", ".target", ".address_size", ".maxntid", ".minnctapersm", ".extern .shared",
        ")",        "{"};
    if (strstr(text, ".entry ") != NULL)
        return entry_begins(r, m, text);
    if (strncmp(text, ".param ", 7) == 0 && r->kernel != NULL)
        return parameter(r, text);
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        if (strncmp(text, skipped[i], strlen(skipped[i])) == 0)
            return true;
    return ptx_refuse(r, "this line is not known here", text);
}

static bool read_lines(struct ptx_reader *r, struct ptx_module *m, FILE *from)
{
    char buffer[1024];
    bool in_body = false;
    while (fgets(buffer, sizeof buffer, from) != NULL) {
        char *text = buffer + strspn(buffer, " \t"), *comment = strstr(text, "//");
        r->line++;
        if (comment != NULL)
            *comment = '\0';
        size_t length = strlen(text);
        while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
            text[--length] = '\0';
        if (length == 0)
            continue;
        if (strcmp(text, "}") == 0 && in_body) {
            in_body = false;
            if (!entry_ends(r))
                return false;
        } else if (!(in_body ? body_line(r, text) : outer_line(r, m, text))) {
            return false;
        }
        in_body = in_body || (r->kernel != NULL && strcmp(text, "{") == 0);
    }
    return r->kernel == NULL || ptx_refuse(r, "the file ends inside an entry", r->kernel->name);
}

bool ptx_read(struct ptx_module *m, const char *path, struct message *why)
{
    struct ptx_reader r = {.path = path, .why = why};
    FILE *from = fopen(path, "r");
    if (from == NULL)
        return refuse(why, "%s cannot be read", path);
    bool read = read_lines(&r, m, from);
    fclose(from);
    free(r.label);
    return read;
}

const struct ptx_kernel *ptx_find(const struct ptx_module *m, const char *name)
{
    for (int i = 0; i < m->count; i++)
        if (strcmp(m->kernel[i].name, name) == 0)
            return &m->kernel[i];
    return NULL;
}

void ptx_free(struct ptx_module *m)
{
    for (int i = 0; i < m->count; i++) {
        free(m->kernel[i].code);
        free(m->kernel[i].constant);
    }
    free(m->kernel);
    *m = (struct ptx_module){NULL, 0};
}
