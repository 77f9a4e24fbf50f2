/* xvfb.h: an X server without a screen, for tests and benchmarks of the window. */
#ifndef FLASHULP_TESTS_XVFB_H
#define FLASHULP_TESTS_XVFB_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool have_program(const char *program)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0;
}

/* The server's process, or 0: there is none.  It chooses a display that is free; $DISPLAY becomes
   its name.  screen: "1280x720x24"; what it shows lies in folder/Xvfb_screen0, in the format of
   xwd. */
static inline pid_t xvfb_start(const char *folder, const char *screen)
{
    int number[2];
    char digits[16] = "", descriptor[16], display[16];
    if (!have_program("Xvfb") || pipe(number) != 0)
        return 0;
    pid_t server = fork();
    if (server == 0) {
        close(number[0]);
        snprintf(descriptor, sizeof descriptor, "%d", number[1]);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        execlp("Xvfb", "Xvfb", "-displayfd", descriptor, "-screen", "0", screen, "-fbdir", folder,
               "-nolisten", "tcp", "-noreset", (char *)NULL);
        _exit(1);
    }
    close(number[1]);
    bool told = server > 0;
    for (size_t at = 0; told && at + 1 < sizeof digits && strchr(digits, '\n') == NULL; at++)
        told = read(number[0], digits + at, 1) == 1; /* in pieces; closing early would kill it */
    close(number[0]);
    if (!told && server > 0) {
        kill(server, SIGTERM);
        waitpid(server, NULL, 0);
    }
    if (!told)
        return 0;
    snprintf(display, sizeof display, ":%d", atoi(digits));
    setenv("DISPLAY", display, 1);
    return server;
}

static inline void xvfb_stop(pid_t server)
{
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
}

#endif
