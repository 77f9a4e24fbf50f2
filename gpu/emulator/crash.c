/* crash.c: faults of the kernel's own code become reports: guard pages, bad addresses, lanes that
   run on and on.  The handler only notes what happened and leaves by a switch to the host's fibre,
   which reports it. */
#define _GNU_SOURCE /* the registers' names */
#include "gpu/emulator/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#include "gpu/emulator/symbols.h"

#ifndef SI_KERNEL
#define SI_KERNEL (-1000) /* elsewhere than on Linux nothing says so */
#endif

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM};
enum { CAUGHT = sizeof caught / sizeof caught[0] };
static struct sigaction before[CAUGHT];
static stack_t stack_before;
static struct itimerval timer_before;

/* What happened; signal_number 0: nothing. */
static struct {
    int signal_number;
    bool unaddressed; /* x86's general protection: no address is given */
    const void *address, *pc;
} crash;
/* What the watchdog saw a second ago, and for how many seconds. */
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

static void handle(int signal_number, siginfo_t *info, void *context)
{
    if (!emulated.running) {
        if (signal_number != SIGVTALRM)
            signal(signal_number, SIG_DFL); /* the host's own fault: it happens again, for good */
        return;
    }
    if (signal_number == SIGVTALRM) {
        seconds_without = seen_progress == emulated.progress ? seconds_without + 1 : 0;
        seen_progress = emulated.progress;
        if (seconds_without < emulator_options.stuck_seconds)
            return;
    }
    crash.signal_number = signal_number;
    crash.unaddressed = info->si_code == SI_KERNEL;
    crash.address = info->si_addr;
    crash.pc = program_counter(context);
    abandon_launch();
}

static void report_fault(struct cuemu_site at)
{
    const struct lane *l = running_lane();
    bool segment = crash.signal_number == SIGSEGV || crash.signal_number == SIGBUS;
    if (segment && fibre_guard_of(crash.address) >= 0)
        report(FAULT_STACK_OVERFLOW, at, nowhere, "%s: its local variables outgrow the stack",
               name_of(l).text);
    else if (segment && crash.unaddressed)
        report(FAULT_MISALIGNED, at, nowhere,
               "%s: an address that is not a multiple of the access's size, or is none",
               name_of(l).text);
    else if (segment)
        report(FAULT_OUT_OF_BOUNDS, at, nowhere, "%s: %s", name_of(l).text,
               place_text(crash.address).text);
    else
        report(FAULT_CRASH, at, nowhere, "%s: %s", name_of(l).text, strsignal(crash.signal_number));
}

void report_crash(void)
{
    struct cuemu_site at;
    if (crash.signal_number == 0)
        return;
    sites_of(&crash.pc, 1, &at);
    if (crash.signal_number == SIGVTALRM) {
        running_lane()->at = at;
        report_deadlock(FAULT_STUCK, "live-lock: a thread runs on and on");
    } else {
        report_fault(at);
    }
    crash.signal_number = 0;
}

void faults_begin(void)
{
    static unsigned char stack[1 << 16];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = handle,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
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
