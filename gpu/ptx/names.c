/* names.c: see names.h.  The program may lie anywhere: addresses count from a function whose name is
   known. */
#include "gpu/ptx/names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 512 };
static struct name {
    uint64_t address;
    char text[128];
} names[MOST_NAMES];
static int count;

static bool wanted(const char *name)
{
    return strncmp(name, "_Z", 2) == 0 || strcmp(name, "ptx_name_of") == 0;
}

static void read_names(void)
{
    FILE *from = popen("nm /proc/$PPID/exe", "r");
    struct name n;
    char line[1024];
    while (from != NULL && fgets(line, sizeof line, from) != NULL)
        if (sscanf(line, "%" SCNx64 " %*c %127s", &n.address, n.text) == 2 && wanted(n.text) &&
            count < MOST_NAMES)
            names[count++] = n;
    if (from != NULL)
        pclose(from);
}

const char *ptx_name_of(const void *function)
{
    uint64_t known = 0;
    if (count == 0)
        read_names();
    for (int i = 0; i < count; i++)
        if (strcmp(names[i].text, "ptx_name_of") == 0)
            known = names[i].address;
    uint64_t at = (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)ptx_name_of + known;
    for (int i = 0; i < count; i++)
        if (names[i].address == at)
            return names[i].text;
    return NULL;
}
