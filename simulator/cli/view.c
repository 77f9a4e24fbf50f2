/* view.c: `flashulp view`: help here, everything else by the program flashulp-view beside this one,
   which is built where SDL2 and libpng are. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/cli/cli.h"
#include "simulator/data.h"

int cli_view(int argc, char **argv)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    struct message why;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return cli_help(COMMAND_VIEW);
    program_folder(folder);
    snprintf(path, sizeof path, "%s/flashulp-view", folder);
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (words == NULL)
        abort();
    words[0] = path;
    memcpy(words + 1, argv, (size_t)argc * sizeof *words);
    execv(path, words);
    refuse(&why, errno == ENOENT
                     ? "the viewer is not built here: with libsdl2-dev and libpng-dev (Debian "
                       "names) installed, make builds it"
                     : "flashulp-view does not start: %s",
           strerror(errno));
    free(words);
    return cli_refused("view", &why);
}
