/* Disturbs the writing system calls of one process, for the tests of crashes and faults.
 *
 * Preloaded into the binary under test. A seccomp filter traps every call that writes, also
 * those that are made without libc; the trap's handler counts it, and either makes it or
 * disturbs it. The environment says what happens:
 *
 *   LOOPX_FAULT_AT     number of the call that is disturbed, from 1; 0 or absent: none
 *   LOOPX_FAULT_KIND   kill (before the call), torn (half of a write, then kill), short (half
 *                      of a write is made and told), enospc, eio, eacces
 *   LOOPX_FAULT_STICKY 1: every later call too
 *   LOOPX_FAULT_EVERY  after that one, every n-th call too
 *   LOOPX_FAULT_SAVE   before the call of this number, LOOPX_FAULT_SAVE_FROM is renamed over
 *                      LOOPX_FAULT_SAVE_TO, as an editor saves
 *   LOOPX_FAULT_FS     number of the kind of file system that every file is said to lie on
 *   LOOPX_FAULT_OPS    only these calls are counted, comma separated names; absent: all
 *   LOOPX_FAULT_LOG    file that gets a line for each counted call
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <ucontext.h>
#include <unistd.h>

/* In the sixth argument, which none of these calls has: ours, let it through. */
#define OURS 0x10f0a1b2u

struct op { long nr; const char *name; };
static const struct op OPS[] = {
    {SYS_openat, "open"}, {SYS_write, "write"}, {SYS_pwrite64, "write"}, {SYS_writev, "write"},
    {SYS_renameat2, "rename"}, {SYS_renameat, "rename"}, {SYS_unlinkat, "unlink"},
    {SYS_fsync, "fsync"}, {SYS_fdatasync, "fsync"}, {SYS_ftruncate, "truncate"},
    {SYS_mkdirat, "mkdir"}, {SYS_linkat, "link"}, {SYS_fchmod, "chmod"},
    {SYS_mknodat, "mknod"}, {SYS_statfs, "statfs"}, {SYS_fstatfs, "statfs"},
#ifdef SYS_open
    {SYS_open, "open"}, {SYS_rename, "rename"}, {SYS_unlink, "unlink"}, {SYS_mkdir, "mkdir"},
    {SYS_link, "link"},
#endif
};
#define N_OPS (sizeof OPS / sizeof OPS[0])

static long at, every, save, fs_kind;
static const char *save_from, *save_to;
static int sticky, log_fd = -1;
static const char *kind = "kill", *ops;
static long counted;

static long raw(long nr, const long *a) {
    long r = syscall(nr, a[0], a[1], a[2], a[3], a[4], (long)OURS);
    return r == -1 ? -errno : r;
}

static void note(const char *name) {
    char line[32];
    size_t n = strlen(name);
    memcpy(line, name, n);
    line[n] = '\n';
    long a[5] = {log_fd, (long)line, (long)(n + 1), 0, 0};
    raw(SYS_write, a);
}

static void die(void) {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    for (;;) pause();
}

static long disturbed(long nr, const char *name, long *a) {
    int writes = strcmp(name, "write") == 0 && nr != SYS_writev;
    int grows = writes || strcmp(name, "unlink") != 0;
    if (strcmp(kind, "kill") == 0) die();
    if (strcmp(kind, "torn") == 0) {
        if (writes && a[2] > 1) { a[2] /= 2; raw(nr, a); }
        die();
    }
    if (strcmp(kind, "short") == 0) {
        if (writes && a[2] > 1) a[2] /= 2;
        return raw(nr, a);
    }
    if (strcmp(kind, "enospc") == 0) return grows ? -ENOSPC : raw(nr, a);
    if (strcmp(kind, "eacces") == 0) return -EACCES;
    return -EIO;
}

static int wanted(const char *name) {
    if (!ops) return 1;
    size_t n = strlen(name);
    for (const char *p = ops; (p = strstr(p, name)); p += n)
        if ((p == ops || p[-1] == ',') && (p[n] == 0 || p[n] == ',')) return 1;
    return 0;
}

static void trapped(int sig, siginfo_t *info, void *context) {
    (void)sig;
    int saved = errno;
    ucontext_t *u = context;
    long nr = info->si_syscall;
#if defined(__x86_64__)
    greg_t *g = u->uc_mcontext.gregs;
    long a[5] = {g[REG_RDI], g[REG_RSI], g[REG_RDX], g[REG_R10], g[REG_R8]};
#elif defined(__aarch64__)
    unsigned long long *x = u->uc_mcontext.regs;
    long a[5] = {x[0], x[1], x[2], x[3], x[4]};
#else
#error "another machine: say where its registers are"
#endif
    const char *name = "?";
    for (size_t i = 0; i < N_OPS; i++)
        if (OPS[i].nr == nr) name = OPS[i].name;
    int stream = strcmp(name, "write") == 0 && a[0] >= 0 && a[0] <= 2;
    int kills = strcmp(kind, "kill") == 0;
    long r;
    if (strcmp(name, "statfs") == 0) {
        r = raw(nr, a);
        if (r == 0 && fs_kind) ((struct statfs *)a[1])->f_type = fs_kind;
        goto done;
    }
    /* The answer on stdout is a point to be killed at, but no file. */
    if (!wanted(name) || (stream && !(kills && a[0] == 1))) {
        r = raw(nr, a);
    } else {
        long n = __atomic_add_fetch(&counted, 1, __ATOMIC_SEQ_CST);
        if (log_fd >= 0) note(stream ? "answer" : name);
        if (save > 0 && n == save) {
            long moved[5] = {AT_FDCWD, (long)save_from, AT_FDCWD, (long)save_to, 0};
            raw(SYS_renameat2, moved);
        }
        int hit = at > 0 && (n == at || (n > at && (sticky || (every > 0 && (n - at) % every == 0))));
        r = hit ? disturbed(nr, name, a) : raw(nr, a);
    }
done:
#if defined(__x86_64__)
    g[REG_RAX] = r;
#else
    x[0] = r;
#endif
    errno = saved;
}

__attribute__((constructor)) static void begin(void) {
    const char *text;
    if (!getenv("LOOPX_FAULT_KIND")) return;
    kind = getenv("LOOPX_FAULT_KIND");
    if ((text = getenv("LOOPX_FAULT_AT"))) at = atol(text);
    if ((text = getenv("LOOPX_FAULT_STICKY"))) sticky = text[0] == '1';
    if ((text = getenv("LOOPX_FAULT_EVERY"))) every = atol(text);
    if ((text = getenv("LOOPX_FAULT_SAVE"))) save = atol(text);
    save_from = getenv("LOOPX_FAULT_SAVE_FROM");
    save_to = getenv("LOOPX_FAULT_SAVE_TO");
    if ((text = getenv("LOOPX_FAULT_FS"))) fs_kind = strtol(text, NULL, 0);
    ops = getenv("LOOPX_FAULT_OPS");
    if ((text = getenv("LOOPX_FAULT_LOG"))) {
        int fd = open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 100);
        close(fd);
    }
    struct sigaction action = {0};
    action.sa_sigaction = trapped;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    sigaction(SIGSYS, &action, NULL);

    struct sock_filter code[16 + 2 * N_OPS];
    unsigned short n = 0;
#define LOAD(field) \
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what)
#define EQUAL(k, yes, no) \
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(k), yes, no)
    LOAD(args[5]);
    EQUAL(OURS, 0, 1);
    RETURN(SECCOMP_RET_ALLOW);
    LOAD(nr);
    for (size_t i = 0; i < N_OPS; i++) {
        if (strcmp(OPS[i].name, "open") == 0) continue;
        if (strcmp(OPS[i].name, "statfs") == 0 && !fs_kind) continue;
        EQUAL(OPS[i].nr, 0, 1);
        RETURN(SECCOMP_RET_TRAP);
    }
#define OPENS(call, flags) \
    EQUAL(call, 0, 4); \
    LOAD(args[flags]); \
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT | O_TRUNC, 0, 1); \
    RETURN(SECCOMP_RET_TRAP); \
    RETURN(SECCOMP_RET_ALLOW)
    OPENS(SYS_openat, 2);
#ifdef SYS_open
    OPENS(SYS_open, 1);
#endif
    RETURN(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        static const char said[] = "faults.c: no seccomp filter\n";
        if (write(2, said, sizeof said - 1)) {}
        _exit(99);
    }
}
