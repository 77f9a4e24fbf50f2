/* gpu.c: `flashulp gpu ...`: the program flashulp-gpu, which lies beside this one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/cli/cli.h"
#include "simulator/data.h"

int cli_gpu(int argc, char **argv)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    char **words = calloc((size_t)argc + 2, sizeof *words);
    struct message why;
    program_folder(folder);
    snprintf(path, sizeof path, "%s/flashulp-gpu", folder);
    if (words == NULL)
        abort();
    words[0] = path;
    memcpy(words + 1, argv, (size_t)argc * sizeof *words);
    execv(path, words);
    refuse(&why, errno == ENOENT ? "%s%s is not built: it needs a C++ compiler (g++), then make"
                                 : "%s: %s", path, errno == ENOENT ? "" : strerror(errno));
    free(words);
    return cli_refused("gpu", &why);
}
