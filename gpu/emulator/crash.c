/* crash.c: faults of the kernel's own code become reports: guard pages, bad addresses, lanes that
   run on and on.  The handler leaves by a switch to the host's fibre. */
#define _GNU_SOURCE /* the registers' names */
#include "gpu/emulator/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#include "gpu/emulator/symbols.h"

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM};
enum { CAUGHT = sizeof caught / sizeof caught[0] };
static struct sigaction before[CAUGHT];
static stack_t stack_before;
static struct itimerval timer_before;
static uint64_t seen_progress;
static int seconds_without;

static const void *program_counter(const void *context)
{
    const ucontext_t *c = context;
#if defined __linux__ && defined __x86_64__
    return (const void *)c->uc_mcontext.gregs[REG_RIP];
#elif defined __linux__ && defined __aarch64__
    return (const void *)c->uc_mcontext.pc;
#else
    (void)c;
    return NULL;
#endif
}

static void report_crash(int signal_number, const void *address, const void *pc)
{
    const struct lane *l = running_lane();
    struct cuemu_site at = site_of_pc(pc);
    char where[160];
    int stack = fibre_guard_of(address);
    if (signal_number == SIGSEGV && stack >= 0)
        report(FAULT_STACK_OVERFLOW, at, nowhere, "%s: its local variables outgrow the stack",
               name_of(l).text);
    else if (signal_number == SIGSEGV && describe_fault(address, where, sizeof where))
        report(FAULT_OUT_OF_BOUNDS, at, nowhere, "%s: %s", name_of(l).text, where);
    else if (signal_number == SIGSEGV && address == NULL)
        report(FAULT_CRASH, at, nowhere, "%s: a bad address, or one not a multiple of its size",
               name_of(l).text);
    else
        report(FAULT_CRASH, at, nowhere, "%s: %s", name_of(l).text, strsignal(signal_number));
}

/* Once a second of CPU time. */
static void watch(const void *pc)
{
    seconds_without = seen_progress == emulated.progress ? seconds_without + 1 : 0;
    seen_progress = emulated.progress;
    if (seconds_without < emulator_options.stuck_seconds)
        return;
    running_lane()->at = site_of_pc(pc);
    report_deadlock(FAULT_STUCK, "live-lock: a thread runs on and on");
    abandon_launch();
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
    if (!emulated.running) {
        if (signal_number != SIGVTALRM)
            signal(signal_number, SIG_DFL); /* the host's own fault: it happens again, for good */
        return;
    }
    if (signal_number == SIGVTALRM) {
        watch(program_counter(context));
        return;
    }
    report_crash(signal_number, info->si_addr, program_counter(context));
    abandon_launch();
}

void faults_begin(void)
{
    static unsigned char stack[1 << 16];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    struct itimerval second = {{1, 0}, {1, 0}};
    sigemptyset(&action.sa_mask);
    sigaltstack(&own, &stack_before);
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &action, &before[i]);
    seconds_without = 0;
    setitimer(ITIMER_VIRTUAL, &second, &timer_before);
}

void faults_end(void)
{
    setitimer(ITIMER_VIRTUAL, &timer_before, NULL);
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &before[i], NULL);
    sigaltstack(&stack_before, NULL);
}
