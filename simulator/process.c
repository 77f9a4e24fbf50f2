/* process.c: fork, limits, exec, and the loop that reads, writes and watches the clock. */
#define _DEFAULT_SOURCE /* setgroups */
#include "simulator/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static int stranger = 65534;

enum { MORE_PROCESSES = 32, CHANNEL_TO = 3, CHANNEL_FROM = 4 };

double process_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void process_stranger(int n)
{
    stranger = 65534 - n;
}

int process_stranger_user(void)
{
    return stranger;
}

void process_conceal(void)
{
#ifdef __linux__
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

static void limit(int which, int64_t most)
{
    struct rlimit r;
    if (getrlimit(which, &r) != 0)
        return;
    if (r.rlim_max == RLIM_INFINITY || (rlim_t)most < r.rlim_max)
        r.rlim_max = (rlim_t)most;
    r.rlim_cur = r.rlim_max;
    setrlimit(which, &r);
}

/* Calls `visit` with every process of /proc its parent and owner, as far as they can be read. */
static int each_process(bool (*visit)(pid_t pid, pid_t parent, uid_t owner))
{
    int count = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *e; all != NULL && (e = readdir(all)) != NULL;) {
        char path[64], line[256];
        long pid = strtol(e->d_name, NULL, 10), parent = 0, owner = -1;
        if (pid <= 0)
            continue;
        snprintf(path, sizeof path, "/proc/%ld/status", pid);
        FILE *f = fopen(path, "r");
        while (f != NULL && fgets(line, sizeof line, f) != NULL)
            if (sscanf(line, "PPid: %ld", &parent) != 1 && sscanf(line, "Uid: %ld", &owner) == 1)
                break;
        if (f != NULL)
            fclose(f);
        count += visit((pid_t)pid, (pid_t)parent, (uid_t)owner);
    }
    if (all != NULL)
        closedir(all);
    return count;
}

static bool is_mine(pid_t pid, pid_t parent, uid_t owner)
{
    (void)pid;
    (void)parent;
    return owner == getuid();
}

static bool kill_orphan(pid_t pid, pid_t parent, uid_t owner)
{
    (void)owner;
    if (parent != getpid())
        return false;
    siginfo_t ended = {0};
    bool running =
        waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return running;
}

static void apply_limits(const struct limits *l)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (int64_t)l->seconds + 1);
    limit(RLIMIT_FSIZE, l->file_bytes);
    if (l->memory > 0)
        limit(l->address_space ? RLIMIT_AS : RLIMIT_DATA, l->memory);
    if (!l->stranger)
        return;
    if (geteuid() == 0 &&
        (setgroups(0, NULL) != 0 || setgid((gid_t)stranger) != 0 || setuid((uid_t)stranger) != 0))
        _exit(126);
    limit(RLIMIT_NPROC, each_process(is_mine) + MORE_PROCESSES);
}

/* Puts `fd` where the program looks for it; both ends of the pipes are past CHANNEL_FROM. */
static void place(int fd, int at)
{
    if (dup2(fd, at) < 0)
        _exit(126);
}

static void become(const struct limits *l, char *const *argv, int printed, int input, int output)
{
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDONLY);
    place(nothing, STDIN_FILENO);
    place(printed, STDOUT_FILENO);
    place(printed, STDERR_FILENO);
    if (l->talks) {
        place(input, CHANNEL_TO);
        place(output, CHANNEL_FROM);
    }
    for (int fd = l->talks ? CHANNEL_FROM + 1 : CHANNEL_TO; fd < 256; fd++)
        close(fd);
    for (int n = 1; n < NSIG; n++)
        if (n != SIGKILL && n != SIGSTOP)
            signal(n, SIG_DFL);
    if (chdir(l->folder) != 0)
        _exit(126);
    apply_limits(l);
    if (l->confined)
        process_confine(l->starts);
    execvp(argv[0], argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* A pipe whose ends lie above the descriptors that the program is given. */
static bool high_pipe(int ends[2])
{
    int low[2];
    if (pipe(low) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD, 10);
        close(low[i]);
        if (ends[i] >= 0)
            fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

bool process_start(struct process *p, const struct limits *limits, char *const *argv,
                   struct message *why)
{
    int out[2], to[2], from[2];
    *p = (struct process){.limits = *limits, .to = -1, .from = -1};
    if (!high_pipe(out) || !high_pipe(to) || !high_pipe(from))
        return refuse(why, "%s: no pipe: %s", argv[0], strerror(errno));
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
    signal(SIGPIPE, SIG_IGN);
    fflush(NULL);
    p->pid = fork();
    if (p->pid == 0)
        become(limits, argv, out[1], to[0], from[1]);
    close(out[1]);
    close(to[0]);
    close(from[1]);
    p->printed = out[0];
    p->to = to[1];
    p->from = from[0];
    if (p->pid < 0)
        return refuse(why, "%s: cannot be started: %s", argv[0], strerror(errno));
    setpgid(p->pid, p->pid);
    fcntl(p->printed, F_SETFL, O_NONBLOCK);
    fcntl(p->to, F_SETFL, O_NONBLOCK);
    fcntl(p->from, F_SETFL, O_NONBLOCK);
    p->deadline = process_clock() + limits->seconds;
    return true;
}

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Takes what it has printed so far. */
static void listen_to(struct process *p)
{
    char piece[16384];
    ssize_t n;
    while (p->printed >= 0 && (n = read(p->printed, piece, sizeof piece)) != 0) {
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return;
        }
        size_t room = sizeof p->said - 1 - p->said_length;
        size_t kept = (size_t)n < room ? (size_t)n : room;
        memcpy(p->said + p->said_length, piece, kept);
        p->said_length += kept;
        p->said_total += n;
        if (p->said_total > p->limits.print_bytes)
            return;
    }
    shut(&p->printed);
}

/* Has it ended?  Then says how. */
static void look(struct process *p)
{
    int status;
    if (p->ending != ENDING_RUNNING || waitpid(p->pid, &status, WNOHANG) != p->pid)
        return;
    bool exited = WIFEXITED(status);
    p->ending = exited ? ENDING_EXIT : ENDING_SIGNAL;
    p->code = exited ? WEXITSTATUS(status) : WTERMSIG(status);
    if (p->ending == ENDING_SIGNAL && p->code == SIGXCPU)
        p->ending = ENDING_TIME;
}

/* One round of waiting: at most 20 ms, less when something happens. */
static void wait_a_little(struct process *p, bool sending)
{
    struct pollfd fds[3] = {{.fd = p->printed, .events = POLLIN},
                            {.fd = p->from, .events = POLLIN},
                            {.fd = sending ? p->to : -1, .events = POLLOUT}};
    poll(fds, 3, p->printed < 0 && p->from < 0 ? 2 : 20);
    listen_to(p);
    look(p);
    if (p->ending != ENDING_RUNNING)
        return;
    if (p->said_total > p->limits.print_bytes)
        p->ending = ENDING_PRINTED;
    else if (process_clock() > p->deadline)
        p->ending = ENDING_TIME;
}

static size_t moved(ssize_t n)
{
    return n > 0 ? (size_t)n : 0;
}

bool process_talk(struct process *p, const void *send, size_t count, void *reply, size_t want)
{
    size_t sent = 0, got = 0;
    if (p->rests_since > 0)
        p->deadline += process_clock() - p->rests_since;
    p->rests_since = 0;
    while (p->from >= 0) {
        if (sent < count)
            sent += moved(write(p->to, (const char *)send + sent, count - sent));
        ssize_t n = got < want ? read(p->from, (char *)reply + got, want - got) : 0;
        got += moved(n);
        if (sent == count && got == want) {
            p->rests_since = process_clock();
            return true;
        }
        if (n == 0 && got < want)
            shut(&p->from); /* nobody can answer any more */
        if (p->ending != ENDING_RUNNING)
            return false;
        wait_a_little(p, sent < count);
    }
    double patience = process_clock() + 0.2; /* it is about to end: how? */
    while (p->ending == ENDING_RUNNING && process_clock() < patience)
        wait_a_little(p, false);
    return false;
}

void process_kill(struct process *p)
{
    listen_to(p);
    look(p);
    if (p->pid > 0) {
        p->survivors = kill(-p->pid, SIGKILL) == 0 && p->ending == ENDING_EXIT;
        int status;
        if (p->ending != ENDING_EXIT && p->ending != ENDING_SIGNAL)
            waitpid(p->pid, &status, 0);
        if (p->ending == ENDING_RUNNING) {
            p->ending = ENDING_SIGNAL;
            p->code = SIGKILL;
        }
    }
#ifdef __linux__
    for (int found = 1, rounds = 0; found > 0 && rounds < 100; rounds++) {
        found = each_process(kill_orphan);
        p->survivors = p->survivors || found > 0;
    }
#endif
    p->pid = 0;
    shut(&p->printed);
    shut(&p->to);
    shut(&p->from);
}

void process_wait(struct process *p)
{
    shut(&p->to);
    shut(&p->from);
    while (p->ending == ENDING_RUNNING)
        wait_a_little(p, false);
    process_kill(p);
}

struct ending_text process_ending(const struct process *p)
{
    struct ending_text t;
    const char *name = NULL;
    static const struct {
        int number;
        const char *name;
    } signals[] = {{SIGSEGV, "SIGSEGV, a wrong address"},
                   {SIGBUS, "SIGBUS, a wrong address"},
                   {SIGFPE, "SIGFPE, a division of whole numbers by 0"},
                   {SIGABRT, "SIGABRT, abort or a failed assert"},
                   {SIGILL, "SIGILL, no instruction of this processor"},
                   {SIGXFSZ, "SIGXFSZ, a file larger than allowed"},
                   {SIGSYS, "SIGSYS, a call that is not allowed: files to write, processes, "
                            "sockets"},
                   {SIGKILL, "SIGKILL"}};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (signals[i].number == p->code)
            name = signals[i].name;
    if (p->ending == ENDING_TIME)
        snprintf(t.text, sizeof t.text, "was still running after %g s", p->limits.seconds);
    else if (p->ending == ENDING_PRINTED)
        snprintf(t.text, sizeof t.text, "printed more than %lld kB",
                 (long long)p->limits.print_bytes / 1000);
    else if (p->ending == ENDING_SIGNAL && name != NULL)
        snprintf(t.text, sizeof t.text, "crashed (%s)", name);
    else if (p->ending == ENDING_SIGNAL)
        snprintf(t.text, sizeof t.text, "crashed (signal %d)", p->code);
    else
        snprintf(t.text, sizeof t.text, "exited with status %d", p->code);
    return t;
}
