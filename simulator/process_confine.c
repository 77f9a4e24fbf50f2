/* process_confine.c: what a confined program may not ask the kernel for, whoever runs it: other
   processes, signals and memory of others, sockets, and any change to the file system.  A filter of
   system calls (seccomp), which needs no root; where the kernel has none nothing is held back, and
   the limits of process.c remain.  A call that is held back raises SIGSYS. */
#define _GNU_SOURCE /* CLONE_THREAD */
#include "simulator/process.h"

#if defined __linux__ && (defined __x86_64__ || defined __aarch64__)
#include <assert.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
enum { ARCHITECTURE = AUDIT_ARCH_X86_64, FOREIGN = 0x40000000 /* x32's calls */ };
#else
enum { ARCHITECTURE = (int)AUDIT_ARCH_AARCH64, FOREIGN = 0x7FFFFFFF };
#endif

enum { WRITES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, ANY = -1, LONGEST = 256 };

/* Held back: always; or where `bits` of argument `at` are set; or where it is not this process; or
   where they are not set. */
enum when { ALWAYS, IF_SET, UNLESS_SELF, UNLESS_SET };
static const struct held {
    int call;
    enum when when;
    int at, bits;
} held[] = {
#ifdef __x86_64__
    {SYS_open, IF_SET, 1, WRITES},
    {SYS_creat, ALWAYS, 0, 0},
    {SYS_fork, ALWAYS, 0, 0},
    {SYS_vfork, ALWAYS, 0, 0},
    {SYS_unlink, ALWAYS, 0, 0},
    {SYS_rename, ALWAYS, 0, 0},
    {SYS_rmdir, ALWAYS, 0, 0},
    {SYS_mkdir, ALWAYS, 0, 0},
    {SYS_link, ALWAYS, 0, 0},
    {SYS_symlink, ALWAYS, 0, 0},
    {SYS_chmod, ALWAYS, 0, 0},
    {SYS_chown, ALWAYS, 0, 0},
    {SYS_lchown, ALWAYS, 0, 0},
    {SYS_mknod, ALWAYS, 0, 0},
#endif
    {SYS_openat, IF_SET, 2, WRITES},
    {SYS_clone, UNLESS_SET, 0, CLONE_THREAD},
    {SYS_kill, UNLESS_SELF, 0, 0},
    {SYS_tkill, UNLESS_SELF, 0, 0},
    {SYS_tgkill, UNLESS_SELF, 0, 0},
    {SYS_ptrace, ALWAYS, 0, 0},
    {SYS_process_vm_readv, ALWAYS, 0, 0},
    {SYS_process_vm_writev, ALWAYS, 0, 0},
    {SYS_socket, ALWAYS, 0, 0},
    {SYS_truncate, ALWAYS, 0, 0},
    {SYS_ftruncate, ALWAYS, 0, 0},
    {SYS_unlinkat, ALWAYS, 0, 0},
    {SYS_renameat, ALWAYS, 0, 0},
    {SYS_renameat2, ALWAYS, 0, 0},
    {SYS_mkdirat, ALWAYS, 0, 0},
    {SYS_linkat, ALWAYS, 0, 0},
    {SYS_symlinkat, ALWAYS, 0, 0},
    {SYS_fchmod, ALWAYS, 0, 0},
    {SYS_fchmodat, ALWAYS, 0, 0},
    {SYS_fchown, ALWAYS, 0, 0},
    {SYS_fchownat, ALWAYS, 0, 0},
    {SYS_mknodat, ALWAYS, 0, 0},
    {SYS_unshare, ALWAYS, 0, 0},
    {SYS_setns, ALWAYS, 0, 0},
    {SYS_mount, ALWAYS, 0, 0},
    {SYS_prlimit64, IF_SET, 0, ANY}, /* of another process: its number is not 0 */
#ifdef SYS_io_uring_setup
    {SYS_io_uring_setup, ALWAYS, 0, 0},
#endif
#ifdef SYS_pidfd_open
    {SYS_pidfd_open, ALWAYS, 0, 0},
#endif
};
enum { HELD = sizeof held / sizeof held[0] };

struct filter {
    struct sock_filter code[LONGEST];
    unsigned short length;
};

static void add(struct filter *f, struct sock_filter instruction)
{
    assert(f->length < LONGEST);
    f->code[f->length++] = instruction;
}

static void load(struct filter *f, size_t offset)
{
    add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void give(struct filter *f, unsigned verdict)
{
    add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* If the call is this one: its condition decides; the low half of an argument is what counts. */
static void add_held(struct filter *f, const struct held *h)
{
    bool plain = h->when == ALWAYS;
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)h->call, 0,
                                        (unsigned char)(plain ? 1 : 4)));
    if (plain) {
        give(f, SECCOMP_RET_TRAP);
        return;
    }
    load(f, offsetof(struct seccomp_data, args) + (size_t)h->at * 8);
    bool self = h->when == UNLESS_SELF, set = h->when == IF_SET;
    unsigned value = self ? (unsigned)getpid() : (unsigned)h->bits;
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | (self ? BPF_JEQ : BPF_JSET) | BPF_K, value,
                                        set ? 1 : 0, set ? 0 : 1));
    give(f, SECCOMP_RET_ALLOW);
    give(f, SECCOMP_RET_TRAP);
}

static bool is_start(int call)
{
#ifdef __x86_64__
    if (call == SYS_fork || call == SYS_vfork)
        return true;
#endif
    return call == SYS_clone;
}

/* A call of which only memory tells what it asks for: as if the kernel were older. */
static void add_unknown(struct filter *f, int call)
{
    add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1));
    give(f, SECCOMP_RET_ERRNO | 38 /* ENOSYS */);
}

void process_confine(bool starts)
{
    struct filter f = {.length = 0};
    load(&f, offsetof(struct seccomp_data, arch));
    add(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)ARCHITECTURE, 1, 0));
    give(&f, SECCOMP_RET_TRAP);
    load(&f, offsetof(struct seccomp_data, nr));
    add(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN, 0, 1));
    give(&f, SECCOMP_RET_TRAP);
    for (int i = 0; i < HELD; i++)
        if (!starts || !is_start(held[i].call))
            add_held(&f, &held[i]);
#ifdef SYS_clone3
    add_unknown(&f, SYS_clone3);
#endif
#ifdef SYS_openat2
    add_unknown(&f, SYS_openat2);
#endif
    give(&f, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = f.length, .filter = f.code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
#else
void process_confine(bool starts)
{
    (void)starts;
}
#endif
