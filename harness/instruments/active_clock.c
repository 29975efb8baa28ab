/* A clock that stands still while the program waits for a processor.

   Loaded before the C library (LD_PRELOAD), it takes the place of its monotonic clocks, as one, in programs that measure
   themselves. What they print is then active time: sleeping, locks and disks count as they did, other programs do not.
   Of the first thread, or with $PERFGATE_WORKER of JMH's worker, the kernel says how long it was ready and did not run
   (/proc/thread-self/schedstat). Others read the same clock, as that thread left it: what they read may be ahead by what
   it waits just then, never by more, and in no thread does it go back. Where others do the work, it is the usual one.
   Waits until a time of this clock are made to end at the system's. At the end it adds a line to $PERFGATE_CLOCK: the
   nanoseconds that it stood still. Built without a library of its own. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000, SHORT = 50000, STOPPED = 5000, TRIES = 9 };

static pthread_t measuring; /* 0: none does */
static int workers = -1;    /* of JMH, so many came; -1: nobody waits for them, as the first thread measures */
static int64_t stood, read_at, waited, quick = SECOND; /* quick: the shortest look */
static volatile int looking;                           /* a signal may come meanwhile, and read the clock */
static __thread int64_t last __attribute__((tls_model("initial-exec")));
static int (*system_clock)(clockid_t, struct timespec *);
void *dlvsym(void *, const char *, const char *) __attribute__((weak)); /* musl has none */

/* Symbols are looked for without dlsym's cast, which ISO C does not know. Before glibc 2.36 dlsym finds the oldest of
   several, and the oldest pthread_cond_timedwait takes another pthread_cond_t. */
static void find(void *function, const char *name) {
    void *found = dlvsym ? dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : NULL;
    if (!found) found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static int64_t nanoseconds(clockid_t id) {
    struct timespec now = {0, 0};
    system_clock(id, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/* Return for how long this thread was ready and did not run, in nanoseconds; -1: nothing says it. By system calls: open,
   read and time may be variables of the program, and a thread may not end here. */
static int64_t delay(void) {
    char text[80];
    int was = errno;
    long file = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    long length = file < 0 ? -1 : syscall(SYS_read, file, text, sizeof text - 1);
    if (file >= 0) syscall(SYS_close, file);
    errno = was;
    if (length <= 0) return -1;
    text[length] = 0;
    int64_t told = 0; /* without strtoll, which has another name in each C library */
    for (const char *digit = text + strcspn(text, " "); *digit && *++digit >= '0';) told = 10 * told + *digit - '0';
    /* a kernel that does not count says 0 of everything */
    return strncmp(text, "0 0 ", 4) ? told : -1;
}

/* Return what `delay` says; the time before is *asked, which becomes the time after. */
static int64_t look(int64_t *asked) {
    int64_t before = *asked, told = delay();
    *asked = nanoseconds(CLOCK_MONOTONIC);
    if (*asked - before < quick) quick = *asked - before;
    return told;
}

__attribute__((constructor)) static void begin(void) {
    if (!system_clock) find(&system_clock, "clock_gettime");
    /* only lines are wanted: the clock is the system's */
    if ((looking = !getenv("PERFGATE_CLOCK"))) return;
    workers = getenv("PERFGATE_WORKER") ? 0 : -1;
    measuring = workers ? pthread_self() : 0;
    for (int i = 0; i < TRIES; i++) waited = look(&read_at);
}

/* What is printed line by line into the file that is read meanwhile is read before the program ends. */
__attribute__((constructor)) static void lines(void) {
    const char *path = getenv("PERFGATE_LINES");
    struct stat kept, own;
    if (path && !stat(path, &kept) && !fstat(1, &own) && kept.st_ino == own.st_ino && kept.st_dev == own.st_dev)
        setvbuf(stdout, NULL, _IOLBF, 0);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("PERFGATE_CLOCK");
    int how = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    long file = path && waited >= 0 ? syscall(SYS_openat, AT_FDCWD, path, how, 0644) : -1;
    char line[32];
    syscall(SYS_write, file, line, (long)snprintf(line, sizeof line, "%lld\n", (long long)stood));
    syscall(SYS_close, file);
}

/* Return the time of this clock in the thread that measures. If it was read so long ago that it matters, find out for
   how long the thread did not run since: that takes a microsecond or two, which the clock leaves out too. */
static int64_t looked(void) {
    int64_t now = nanoseconds(CLOCK_MONOTONIC), asked = now, told = waited;
    if (looking) return now - stood;
    looking = 1;
    if (now - read_at >= SHORT) {
        for (int i = 0; i < TRIES; i++) {
            now = asked;
            told = look(&asked);
            if (asked - now < STOPPED || asked - now < 2 * quick) break; /* it was not stopped between the two */
        }
        int64_t passed = now - read_at, more = waited < 0 ? 0 : told - waited;
        if (more > 0) __atomic_add_fetch(&stood, more < passed ? more : passed, __ATOMIC_RELAXED);
        waited = told;
    }
    read_at = asked;
    looking = 0;
    return now - (__atomic_add_fetch(&stood, asked - now, __ATOMIC_RELAXED) - (asked - now));
}

/* The first thread of a new process is another one, which has not waited yet. */
pid_t fork(void) {
    pid_t (*next)(void);
    find(&next, "fork");
    pid_t process = next();
    if (process == 0) begin();
    return process;
}

int clock_gettime(clockid_t id, struct timespec *at) {
    if (!system_clock) return (int)syscall(SYS_clock_gettime, id, at);
    if (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_RAW) return system_clock(id, at);
    int64_t now = pthread_equal(pthread_self(), measuring)
                      ? looked()
                      : nanoseconds(CLOCK_MONOTONIC) - __atomic_load_n(&stood, __ATOMIC_RELAXED);
    last = now = now > last ? now : last;
    at->tv_sec = (time_t)(now / SECOND);
    at->tv_nsec = (long)(now % SECOND);
    return 0;
}

/* JMH names its workers after their benchmark, with a dot between class and method, and a JVM its other threads without
   one. Of several workers none is the one that measures. */
int pthread_setname_np(pthread_t thread, const char *name) {
    static int (*next)(pthread_t, const char *);
    if (!next) find(&next, "pthread_setname_np");
    if (workers >= 0 && pthread_equal(thread, pthread_self()) && strchr(name, '.') && !workers++) {
        waited = look(&read_at);
        measuring = thread;
    } else if (workers > 1)
        measuring = 0;
    return next(thread, name);
}

/* Return a time of this clock as one of the system's. Where nobody says which clock it is of, its size does: the
   monotonic one begins with the machine. */
static const struct timespec *of_system(const struct timespec *at, struct timespec *moved) {
    if (!at || !system_clock || at->tv_sec > nanoseconds(CLOCK_REALTIME) / SECOND / 2 || !(at->tv_sec | at->tv_nsec))
        return at; /* 0 stops a timer */
    int64_t until = (int64_t)at->tv_sec * SECOND + at->tv_nsec + __atomic_load_n(&stood, __ATOMIC_RELAXED);
    moved->tv_sec = (time_t)(until / SECOND);
    moved->tv_nsec = (long)(until % SECOND);
    return moved;
}

static const struct itimerspec *timer(const struct itimerspec *at, struct itimerspec *moved) {
    moved->it_interval = at->it_interval, moved->it_value = *of_system(&at->it_value, &moved->it_value);
    return moved;
}

#define WAITS(name, parameters, arguments)                                                                             \
    int name parameters {                                                                                              \
        static int(*next) parameters;                                                                                  \
        struct itimerspec moved;                                                                                       \
        if (!next) find(&next, #name);                                                                                 \
        return next arguments;                                                                                         \
    }

WAITS(pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at), (c, m, of_system(at, &moved.it_value)))
WAITS(pthread_cond_clockwait, (pthread_cond_t *c, pthread_mutex_t *m, clockid_t id, const struct timespec *at), (c, m, id, of_system(at, &moved.it_value)))
WAITS(pthread_mutex_clocklock, (pthread_mutex_t *m, clockid_t id, const struct timespec *at), (m, id, of_system(at, &moved.it_value)))
WAITS(sem_clockwait, (sem_t *s, clockid_t id, const struct timespec *at), (s, id, of_system(at, &moved.it_value)))
WAITS(clock_nanosleep, (clockid_t id, int flags, const struct timespec *at, struct timespec *left), (id, flags, flags & TIMER_ABSTIME && id == CLOCK_MONOTONIC ? of_system(at, &moved.it_value) : at, left))
WAITS(pthread_rwlock_clockrdlock, (pthread_rwlock_t *l, clockid_t id, const struct timespec *at), (l, id, of_system(at, &moved.it_value)))
WAITS(pthread_rwlock_clockwrlock, (pthread_rwlock_t *l, clockid_t id, const struct timespec *at), (l, id, of_system(at, &moved.it_value)))
WAITS(timerfd_settime, (int file, int flags, const struct itimerspec *at, struct itimerspec *left), (file, flags, flags & TFD_TIMER_ABSTIME ? timer(at, &moved) : at, left))

/* The standard library of Rust waits by itself. */
long syscall(long number, ...) {
    static long (*next)(long, ...);
    struct timespec moved;
    long given[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) given[i] = va_arg(list, long);
    va_end(list);
    if (!next) find(&next, "syscall");
    if (number == SYS_futex && (given[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
        given[3] = (long)of_system((const struct timespec *)given[3], &moved);
    return next(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
