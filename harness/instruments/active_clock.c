/* A clock that stands still while the program waits for a processor.

   Loaded before the C library (LD_PRELOAD), it takes the place of its monotonic clocks, as one, in programs that measure
   themselves. What they print is then active time: sleeping, locks and disks count as they did, other programs do not.
   Of the first thread the kernel says how long it was ready and did not run (/proc/thread-self/schedstat). Others read
   the same clock, as the first thread left it: what they read may be ahead by what that thread waits just then, never
   by more. Where others do the work, it is the usual one. Waits until a time of this clock are made to end at the
   system's. At the end it adds a line to $PERFGATE_CLOCK: the nanoseconds that it stood still. Built without a library
   of its own. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000, SHORT = 50000, STOPPED = 5000, TRIES = 9 };

static pthread_t first;
static int64_t stood, read_at, waited;
static int (*system_clock)(clockid_t, struct timespec *);

/* Symbols are looked for without dlsym's cast, which ISO C does not know. */
static void find(void *function, const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static int64_t nanoseconds(clockid_t id) {
    struct timespec now = {0, 0};
    system_clock(id, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

/* Return for how long this thread was ready and did not run, in nanoseconds; -1: the kernel does not say. */
static int64_t delay(void) {
    char text[80];
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (length <= 0) return -1;
    text[length] = 0;
    const char *second = strchr(text, ' ');
    /* a kernel that does not count says 0 of everything */
    return second && strncmp(text, "0 0 ", 4) ? strtoll(second, NULL, 10) : -1;
}

__attribute__((constructor)) static void begin(void) {
    find(&system_clock, "clock_gettime");
    first = pthread_self();
    waited = delay();
    read_at = nanoseconds(CLOCK_MONOTONIC);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("PERFGATE_CLOCK");
    int file = path && waited >= 0 ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644) : -1;
    if (file < 0) return;
    char line[32];
    int length = snprintf(line, sizeof line, "%lld\n", (long long)stood);
    if (write(file, line, (size_t)length) < 0) { /* then nothing is told */
    }
    close(file);
}

/* Return the time of this clock in the first thread. If it was read so long ago that it matters, find out for how long
   the thread did not run since: that takes a microsecond or two, which the clock leaves out too. */
static int64_t looked(void) {
    int64_t now = nanoseconds(CLOCK_MONOTONIC), asked = now, told = waited;
    if (now - read_at >= SHORT && waited >= 0) {
        for (int i = 0; i < TRIES; i++) {
            now = asked;
            told = delay();
            asked = nanoseconds(CLOCK_MONOTONIC);
            if (asked - now < STOPPED) break; /* it was not stopped between the two */
        }
        int64_t passed = now - read_at, more = told - waited;
        if (more > 0) __atomic_add_fetch(&stood, more < passed ? more : passed, __ATOMIC_RELAXED);
        waited = told;
    }
    read_at = asked;
    return now - (__atomic_add_fetch(&stood, asked - now, __ATOMIC_RELAXED) - (asked - now));
}

/* The first thread of a new process is another one, which has not waited yet. */
pid_t fork(void) {
    pid_t (*next)(void);
    find(&next, "fork");
    pid_t process = next();
    if (process == 0) {
        first = pthread_self();
        waited = delay();
        read_at = nanoseconds(CLOCK_MONOTONIC);
    }
    return process;
}

int clock_gettime(clockid_t id, struct timespec *at) {
    if (!system_clock) return (int)syscall(SYS_clock_gettime, id, at);
    if (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_RAW) return system_clock(id, at);
    int64_t now = pthread_equal(pthread_self(), first)
                      ? looked()
                      : nanoseconds(CLOCK_MONOTONIC) - __atomic_load_n(&stood, __ATOMIC_RELAXED);
    at->tv_sec = (time_t)(now / SECOND);
    at->tv_nsec = (long)(now % SECOND);
    return 0;
}

/* Return a time of this clock as one of the system's. Where nobody says which clock it is of, its size does: the
   monotonic one begins with the machine. */
static const struct timespec *of_system(const struct timespec *at, struct timespec *moved) {
    if (!at || at->tv_sec > time(NULL) / 2) return at;
    int64_t until = (int64_t)at->tv_sec * SECOND + at->tv_nsec + __atomic_load_n(&stood, __ATOMIC_RELAXED);
    moved->tv_sec = (time_t)(until / SECOND);
    moved->tv_nsec = (long)(until % SECOND);
    return moved;
}

#define WAITS(name, parameters, arguments)                                                                             \
    int name parameters {                                                                                              \
        static int(*next) parameters;                                                                                  \
        struct timespec moved;                                                                                         \
        if (!next) find(&next, #name);                                                                                 \
        return next arguments;                                                                                         \
    }

WAITS(pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at), (c, m, of_system(at, &moved)))
WAITS(pthread_cond_clockwait, (pthread_cond_t *c, pthread_mutex_t *m, clockid_t id, const struct timespec *at), (c, m, id, of_system(at, &moved)))
WAITS(pthread_mutex_clocklock, (pthread_mutex_t *m, clockid_t id, const struct timespec *at), (m, id, of_system(at, &moved)))
WAITS(sem_clockwait, (sem_t *s, clockid_t id, const struct timespec *at), (s, id, of_system(at, &moved)))
WAITS(clock_nanosleep, (clockid_t id, int flags, const struct timespec *at, struct timespec *left), (id, flags, flags & TIMER_ABSTIME ? of_system(at, &moved) : at, left))

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
