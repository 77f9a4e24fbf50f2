/* main.c: the program `flashulp-view`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "simulator/inputs.h"
#include "visualize/view.h"

int main(int argc, char **argv)
{
    struct view v = {0};
    struct message why;
    int status = 0;
    inputs_register();
    const struct command_info *info = command_info(COMMAND_VIEW);
    if (!scenario_parse(&v.scenario, info->name, info->groups, argc - 1, argv + 1, &why)) {
        fprintf(stderr, "flashulp view: %s\n", why.text);
        return 2;
    }
    errno = 0;
    if (!view_read(&v, &why) || !view_it(&v, &why)) {
        fprintf(stderr, "flashulp view: %s\n", why.text);
        status = 2;
    } else if (v.failed) {
        status = 2;
    } else if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "flashulp view: the output cannot be written: %s\n",
                strerror(errno != 0 ? errno : EIO));
        status = 2;
    }
    view_free(&v);
    return status;
}
