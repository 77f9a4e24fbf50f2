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

static const char built_for[] = PREFIX "/share/flashulp/data";

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

char *data_file(const char *name, struct message *why)
{
    const char *told = getenv("FLASHULP_DATA");
    char here[PATH_MAX], beside[2][PATH_MAX + 32], *path;
    if (told != NULL && told[0] != 0) {
        if ((path = readable(told, name)) == NULL)
            refuse(why,
                   "FLASHULP_DATA is %.200s, which has no %.60s; the folder that has it, such "
                   "as tests/data of the source, is right",
                   told, name);
        return path;
    }
    program_folder(here);
    char *slash = strrchr(here, '/');
    if (slash != NULL) /* build or bin is left */
        *slash = 0;
    snprintf(beside[0], sizeof beside[0], "%s/tests/data", here);
    snprintf(beside[1], sizeof beside[1], "%s/share/flashulp/data", here);
    const char *const folders[] = {beside[0], beside[1], "tests/data", built_for};
    for (int i = slash != NULL ? 0 : 2; i < 4; i++)
        if ((path = readable(folders[i], name)) != NULL)
            return path;
    refuse(why,
           "%.60s is in none of %.120s/{tests,share/flashulp}/data, ./tests/data and "
           "%.120s; set FLASHULP_DATA to the folder that has it",
           name, here, built_for);
    return NULL;
}
