/* driver.c: the other end of the grader's pipe: calls the lab's functions, one for each message.

   Compiled with a lab file; STEPS is the list of its functions, STEP(begin) STEP(fold).  It knows
   no expected value and decides nothing.  When the lab crashes, it prints where. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif

#include "driver.h"

#ifdef EMULATED /* the kernels' launchers */
#include <stdio.h>

#include "gpu/emulator/emulator.h"
#define NAME(name) launch_##name
#else
#define NAME(name) name
#endif
#define STEP(name) void NAME(name)(struct state * s);
STEPS
#undef STEP

static void (*const steps[])(struct state *s) = {
#define STEP(name) NAME(name),
    STEPS
#undef STEP
};

static struct exchange now;
#ifndef EMULATED
static char stack[1 << 16];
#endif

static int all(ssize_t (*move)(int, void *, size_t), int fd, void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t n = move(fd, (char *)bytes + done, count - done);
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

static ssize_t send_bytes(int fd, void *bytes, size_t count)
{
    return write(fd, bytes, count);
}

#ifndef EMULATED
static void crashed(int number)
{
#ifdef __GLIBC__
    void *frames[16];
    backtrace_symbols_fd(frames, backtrace(frames, 16), STDERR_FILENO);
#endif
    signal(number, SIG_DFL);
    raise(number);
}
#endif

#ifdef EMULATED
static void prepare(void)
{
}

/* A launch always returns; what it did wrong is a report. */
static void run_step(void)
{
    static const enum emulator_order orders[] = {EMULATOR_ASCENDING, EMULATOR_DESCENDING,
                                                 EMULATOR_RANDOM};
    struct emulator_options o = emulator_defaults();
    o.detector = true;
    o.threads = o.blocks = orders[now.state.order % 3];
    o.seed = now.ticket;
    o.stuck_seconds = 1;
    emulator_configure(&o);
    emulator_reset();
    steps[now.step](&now.state);
    now.report[0] = 0;
    if (emulator_reports() == 0)
        return;
    const struct emulator_report *r = emulator_report(0);
    snprintf(now.report, sizeof now.report, "%.*s", (int)strcspn(r->text, "\n"), r->text);
}
#else
static void prepare(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i],
                  &(struct sigaction){.sa_handler = crashed,
                                      .sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER},
                  NULL);
#ifdef __GLIBC__
    backtrace((void *[1]){0}, 1); /* loads what it needs before memory is tight */
#endif
}

static void run_step(void)
{
    steps[now.step](&now.state);
}
#endif

int main(void)
{
    prepare();
    while (all(read, 3, &now, sizeof now)) {
        if (now.step >= sizeof steps / sizeof steps[0])
            return 3;
        run_step();
        if (!all(send_bytes, 4, &now, sizeof now))
            return 3;
    }
    return 0;
}
