/* symbols.c: see symbols.h.

   addr2line -i prints for each address its function's file and line, then those it is inlined in;
   -a prints the address before them. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "gpu/emulator/symbols.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <link.h>

struct search {
    uintptr_t pc, base;
    char path[512];
};

/* The program or library that the instruction lies in: its path and where it was loaded. */
static int look(struct dl_phdr_info *info, size_t size, void *with)
{
    struct search *s = with;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || s->pc - (info->dlpi_addr + part->p_vaddr) >= part->p_memsz)
            continue;
        s->base = info->dlpi_addr;
        snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
        if (info->dlpi_name[0] == '\0') {
            ssize_t length = readlink("/proc/self/exe", s->path, sizeof s->path - 1);
            s->path[length > 0 ? length : 0] = '\0';
        }
        return 1;
    }
    return 0;
}

static bool find_program(struct search *s)
{
    return dl_iterate_phdr(look, s) != 0 && s->path[0] != '\0' && strchr(s->path, '\'') == NULL;
}
#else
struct search {
    uintptr_t pc, base;
    char path[512];
};
static bool find_program(struct search *s)
{
    (void)s;
    return false;
}
#endif

/* A copy that stays, one for each name; without the working folder, or "./", in front. */
static const char *kept_name(const char *name)
{
    static char **names;
    static int count;
    char folder[512];
    size_t length = getcwd(folder, sizeof folder) != NULL ? strlen(folder) : 0;
    if (length > 0 && strncmp(name, folder, length) == 0 && name[length] == '/')
        name += length + 1;
    name += strncmp(name, "./", 2) == 0 ? 2 : 0;
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return names[i];
    char **more = realloc(names, (size_t)(count + 1) * sizeof *names);
    char *copy = malloc(strlen(name) + 1);
    if (more == NULL || copy == NULL)
        abort();
    names = more;
    return names[count++] = strcpy(copy, name);
}

/* Lines of the emulator itself, or of arithmetic that kernels call. */
static bool of_a_header(const char *file)
{
    return strstr(file, "gpu/emulator/") != NULL || strstr(file, "special_poly.h") != NULL ||
           strstr(file, "/include/") != NULL;
}

/* "FILE:LINE" or "FILE:LINE (discriminator 2)". */
static bool read_site(char *line, struct cuemu_site *site)
{
    char *colon = strrchr(line, ':');
    int number = colon != NULL ? atoi(colon + 1) : 0;
    if (number == 0)
        return false;
    *colon = '\0';
    if (of_a_header(line))
        return false;
    *site = (struct cuemu_site){kept_name(line), number};
    return true;
}

enum { MOST_ADDRESSES = 256 };

static void ask(const char *program, uintptr_t base, const void *const *pc, int count,
                struct cuemu_site *site)
{
    char command[640 + 20 * MOST_ADDRESSES], line[1024];
    int used = snprintf(command, sizeof command, "addr2line -a -i -e '%s'", program), n = -1;
    for (int i = 0; i < count; i++)
        used += snprintf(command + used, sizeof command - (size_t)used, " %#llx",
                         pc[i] == NULL ? 0 : (unsigned long long)((uintptr_t)pc[i] - base));
    snprintf(command + used, sizeof command - (size_t)used, " 2>/dev/null");
    FILE *answer = popen(command, "r");
    while (answer != NULL && fgets(line, sizeof line, answer) != NULL) {
        if (strncmp(line, "0x", 2) == 0 && strchr(line, ':') == NULL)
            n++;
        else if (n >= 0 && n < count && site[n].line == 0)
            read_site(line, &site[n]);
    }
    if (answer != NULL)
        pclose(answer);
}

void sites_of(const void *const *pc, int count, struct cuemu_site *site)
{
    struct search s = {0};
    for (int i = 0; i < count; i++) {
        site[i] = (struct cuemu_site){NULL, 0};
        s.pc = s.pc == 0 ? (uintptr_t)pc[i] : s.pc;
    }
    if (s.pc == 0 || !find_program(&s))
        return;
    for (int i = 0; i < count; i += MOST_ADDRESSES)
        ask(s.path, s.base, pc + i, count - i < MOST_ADDRESSES ? count - i : MOST_ADDRESSES,
            site + i);
}
