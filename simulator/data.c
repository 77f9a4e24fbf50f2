/* data.c: finds the files that come with FlashULP, and says where it looked. */
#include "simulator/data.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#ifndef PREFIX
#define PREFIX "/usr/local"
#endif

static const char built_for[] = PREFIX "/share/flashulp";

#ifdef __APPLE__
static bool program_path(char *path)
{
    char raw[PATH_MAX];
    uint32_t room = sizeof raw;
    return _NSGetExecutablePath(raw, &room) == 0 && realpath(raw, path) != NULL;
}
#else
static bool program_path(char *path)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    return length > 0;
}
#endif

void program_folder(char *folder)
{
    char *slash = program_path(folder) ? strrchr(folder, '/') : NULL;
    if (slash != NULL)
        *slash = 0;
    else
        folder[0] = 0;
}

/* "FOLDER/NAME", malloc'ed, if such a file can be read; else NULL. */
static char *readable(const char *folder, const char *name)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path == NULL)
        return NULL;
    snprintf(path, room, "%s/%s", folder, name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Where a kind of file lies: told by a variable, in the source tree, or below share/flashulp. */
static const struct {
    const char *variable, *source, *share, *such_as;
} kinds[] = {
    [SHIPPED_DATA] = {"FLASHULP_DATA", "tests/data", "data", "tests/data of the source"},
    [SHIPPED_LESSONS] = {"FLASHULP_LESSONS", "lessons", "lessons", "lessons of the source"},
};

/* In the folder a variable names, and in no other. */
static char *told_file(enum shipped kind, const char *told, const char *name, struct message *why)
{
    char *path = readable(told, name);
    if (path == NULL)
        refuse(why, "%s is %.200s, which has no %.60s; the folder that has it, such as %s, is right",
               kinds[kind].variable, told, name, kinds[kind].such_as);
    return path;
}

char *shipped_file(enum shipped kind, const char *name, struct message *why)
{
    const char *told = getenv(kinds[kind].variable), *source = kinds[kind].source;
    const char *share = kinds[kind].share;
    char here[PATH_MAX], folders[4][PATH_MAX + 32], *path;
    if (told != NULL && told[0] != 0)
        return told_file(kind, told, name, why);
    program_folder(here);
    char *slash = strrchr(here, '/');
    if (slash != NULL) /* build or bin is left */
        *slash = 0;
    snprintf(folders[0], sizeof folders[0], "%s/%s", here, source);
    snprintf(folders[1], sizeof folders[1], "%s/share/flashulp/%s", here, share);
    snprintf(folders[2], sizeof folders[2], "%s", source);
    snprintf(folders[3], sizeof folders[3], "%s/%s", built_for, share);
    for (int i = slash != NULL ? 0 : 2; i < 4; i++)
        if ((path = readable(folders[i], name)) != NULL)
            return path;
    refuse(why,
           "%.60s is in none of %.120s/{%s,share/flashulp/%s}, ./%s and %.120s; set %s to the folder "
           "that has it",
           name, here, source, share, source, folders[3], kinds[kind].variable);
    return NULL;
}

char *data_file(const char *name, struct message *why)
{
    return shipped_file(SHIPPED_DATA, name, why);
}
