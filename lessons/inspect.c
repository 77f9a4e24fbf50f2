/* inspect.c: what the preprocessor made of a student's file, looked through: whose text each line
   is, and what the student's own must not hold. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lessons/build.h"

bool build_refuse(struct built *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(b->sentence, sizeof b->sentence, format, arguments);
    va_end(arguments);
    b->ok = false;
    return false;
}

static bool is_system(const char *path)
{
    static const char *const folders[] = {"/usr/include/",       "/usr/lib/",       "/usr/lib64/",
                                          "/usr/local/include/", "/usr/local/lib/", "/opt/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return strstr(path, "/../") == NULL;
    return path[0] == '<';
}

/* `# 12 "name" 1 3`: a line marker.  Flag 1: a file is entered, 2: returned to. */
struct marker {
    int line;
    char name[512];
    bool enters, returns;
};
static bool read_marker(const char *text, struct marker *m)
{
    char *end;
    if (text[0] != '#' || text[1] != ' ' || !isdigit((unsigned char)text[2]))
        return false;
    m->line = (int)strtol(text + 2, &end, 10);
    const char *from = strchr(end, '"'), *to = from != NULL ? strchr(from + 1, '"') : NULL;
    if (to == NULL || to > strchr(text, '\n') || to - from >= (long)sizeof m->name)
        return false;
    snprintf(m->name, sizeof m->name, "%.*s", (int)(to - from - 1), from + 1);
    m->enters = to[1] == ' ' && to[2] == '1';
    m->returns = to[1] == ' ' && to[2] == '2';
    return true;
}

/* lab.h, in CUDA also the emulator's headers. */
static bool is_ours(const struct built *b, const char *name)
{
    name += strncmp(name, "./", 2) == 0 ? 2 : 0;
    return strcmp(name, "lab.h") == 0 ||
           (b->cuda && (strcmp(name, "lab.cuh") == 0 || strstr(name, "/gpu/emulator/") != NULL));
}

static bool is_word(const char *at, size_t length, const char *name)
{
    if (length > 4 && strncmp(at, "__", 2) == 0) { /* __section__ is section */
        at += 2;
        length -= strncmp(at + length - 4, "__", 2) == 0 ? 4 : 2;
    }
    return strlen(name) == length && strncmp(at, name, length) == 0;
}

/* ("name"), the name being letters, digits, . and _: nothing that the assembler would obey. */
static bool is_harmless(const char *at)
{
    at += strspn(at, " \t");
    if (*at++ != '(')
        return false;
    at += strspn(at, " \t");
    if (*at++ != '"')
        return false;
    at += strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.");
    if (*at++ != '"')
        return false;
    return at[strspn(at, " \t")] == ')';
}

/* What a line has that a lab file may not, outside of strings: assembly, or an attribute whose text
   reaches the assembler as it is, which could read files there. */
static const char *forbidden(const char *line)
{
    static const char *const attributes[] = {"section", "alias", "symver", "ifunc", "weakref"};
    char string = 0;
    for (const char *at = line; *at != '\n' && *at != 0; at++) {
        if (string != 0) {
            at += *at == '\\' && at[1] != 0 && at[1] != '\n';
            string = *at == string ? 0 : string;
            continue;
        }
        if (*at == '"' || *at == '\'') {
            string = *at;
            continue;
        }
        size_t word = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (is_word(at, word, "asm"))
            return "inline assembly is not taken; plain C is right";
        char next = at[word + strspn(at + word, " \t")];
        for (int i = 0; i < 5; i++)
            if (is_word(at, word, attributes[i]) && (next == '(' || next == '\n') &&
                !is_harmless(at + word))
                return "an attribute whose text the assembler would obey is not taken";
        at += word > 0 ? word - 1 : 0;
    }
    return NULL;
}

/* #embed, and pragmas that read files, rename symbols or place sections. */
static bool is_directive(const char *line)
{
    static const char *const words[] = {"embed", "pch_preprocess", "redefine_extname", "section"};
    size_t length = strcspn(line, "\n");
    for (int i = 0; i < 4 && line[0] == '#'; i++) {
        const char *at = strstr(line, words[i]);
        if (at != NULL && at < line + length)
            return true;
    }
    return false;
}

/* The next marker decides where we are: the student's own text, lab.h, or the C library. */
static bool enter(struct built *b, const struct marker *m, int line, bool *own, int *begun)
{
    bool file = strcmp(m->name, build_source(b)) == 0, ours = is_ours(b, m->name);
    if (*begun < 2) { /* the compiler's own names come first */
        *begun = m->name[0] == '<' ? 1 : *begun == 1 && file ? 2 : *begun;
        *own = *begun == 2;
        return true;
    }
    if (m->enters && *own && !ours && !is_system(m->name))
        return build_refuse(b,
                            "line %d includes %.200s; lab.h and the C library's headers are right",
                            line, m->name);
    if (!m->enters && !m->returns && *own && !file)
        return build_refuse(
            b, "line %d: a #line directive hides where the text comes from; leave it out", line);
    *own = file;
    return true;
}

bool build_inspect(struct built *b, const char *text)
{
    bool own = false;
    int line = 0, begun = 0;
    for (const char *at = text; *at != 0;) {
        struct marker m;
        if (read_marker(at, &m)) {
            if (!enter(b, &m, line, &own, &begun))
                return false;
            line = own ? m.line : line;
        } else {
            const char *why = own ? forbidden(at) : NULL;
            if (why != NULL)
                return build_refuse(b, "line %d: %s", line, why);
            if (own && is_directive(at))
                return build_refuse(b, "line %d: this directive is not taken: %.*s", line,
                                    (int)strcspn(at, "\n") < 60 ? (int)strcspn(at, "\n") : 60, at);
            line += own;
        }
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return true;
}
