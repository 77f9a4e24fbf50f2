/* sibling.c: verbs that programs beside this one do: `flashulp gpu`, `flashulp view`, `flashulp lab`,
   `flashulp worksheet`. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/cli/cli.h"
#include "simulator/data.h"

/* Becomes that program; returns only when it cannot.  `needs`: what it is built where. */
static int become(const char *verb, const char *program, const char *needs, int argc, char **argv)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    char **words = calloc((size_t)argc + 2, sizeof *words);
    struct message why;
    program_folder(folder);
    snprintf(path, sizeof path, "%s/%s", folder, program);
    if (words == NULL)
        abort();
    words[0] = path;
    memcpy(words + 1, argv, (size_t)argc * sizeof *words);
    execv(path, words);
    if (errno == ENOENT)
        refuse(&why, "%.300s is not built: it needs %s, then make", path, needs);
    else
        refuse(&why, "%.300s: %s", path, strerror(errno));
    free(words);
    return cli_refused(verb, &why);
}

int cli_gpu(int argc, char **argv)
{
    return become("gpu", "flashulp-gpu", "a C++ compiler (g++)", argc, argv);
}

int cli_view(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return cli_help(COMMAND_VIEW);
    return become("view", "flashulp-view", "libsdl2-dev and libpng-dev", argc, argv);
}

/* The words are looked at here, help is given here; the verb's own word goes with them. */
static int graded(enum command command, int argc, char **argv)
{
    struct scenario s;
    int status = 0;
    if (!cli_scenario(&s, command, argc, argv, &status))
        return status;
    scenario_free(&s);
    return become(command_info(command)->name, "flashulp-lab", "nothing more", argc + 1, argv - 1);
}

int cli_lab(int argc, char **argv)
{
    return graded(COMMAND_LAB, argc, argv);
}

int cli_worksheet(int argc, char **argv)
{
    return graded(COMMAND_WORKSHEET, argc, argv);
}
