/* Wake-up latency of the scheduler, as Latt measures it (Born de Oliveira et al. 2013, section 3.1).
 *
 *   wakeup CLIENTS BYTES OUTPUT LOAD...
 *
 * The server writes a time stamp into a pipe to each client, at random intervals. A client that has read one takes a
 * second stamp at once: the difference is the time for which it could have run and did not. Then it compresses BYTES
 * bytes and says that it is done. All this goes on for as long as the command LOAD runs. Everything is kept in memory,
 * and written when the load has ended, as JSON lines: "latency" of each wake-up, "work" (bytes a second that a client
 * compressed, of each wake-up), and "elapsed" of the load.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compress.h"

enum { MOST = 200000, MOST_CLIENTS = 64 };

struct client {
    pthread_t thread;
    int wake, done;            /* read a stamp here, write a byte there */
    unsigned char *data;
    size_t size, count;
    int64_t *latency, *work;   /* nanoseconds */
};

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void *serve(void *argument) {
    struct client *c = argument;
    int64_t sent;
    while (read(c->wake, &sent, sizeof sent) == sizeof sent) {
        int64_t woken = now();
        volatile size_t result = c->size ? compress(c->data, c->size) : 0;
        (void)result;
        if (c->count < MOST) {
            c->latency[c->count] = woken - sent;
            c->work[c->count++] = now() - woken;
        }
        if (write(c->done, "", 1) != 1) break;
    }
    return NULL;
}

static pid_t start(char **command) {
    pid_t pid = fork();
    if (pid == 0) {
        /* the load competes: it must not inherit a policy under which it would not */
        struct sched_param none = {0};
        sched_setscheduler(0, SCHED_OTHER, &none);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    return pid;
}

static int measure(int count, const int *wake, int done, char **command, int64_t *elapsed) {
    const char *text = getenv("PERFGATE_SEED");
    uint64_t random = text ? strtoull(text, NULL, 10) : 1;
    int64_t begin = now();
    pid_t load = start(command);
    int status = 0;
    if (load < 0) return perror("wakeup"), 1;
    while (waitpid(load, &status, WNOHANG) == 0) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        /* 0.5 to 2.5 ms */
        struct timespec pause = {0, 500000 + (long)(random >> 33) % 2000000};
        nanosleep(&pause, NULL);
        for (int i = 0; i < count; i++) {
            int64_t stamp = now();
            if (write(wake[i], &stamp, sizeof stamp) != sizeof stamp) return perror("wakeup"), 1;
        }
        char byte;
        for (int i = 0; i < count; i++)
            if (read(done, &byte, 1) != 1) return perror("wakeup"), 1;
    }
    *elapsed = now() - begin;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) return fprintf(stderr, "wakeup: the load failed\n"), 1;
    return 0;
}

static int report(const char *path, const struct client *clients, int count, int64_t elapsed) {
    FILE *out = fopen(path, "w");
    if (!out) return perror(path), 1;
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < clients[i].count; k++) {
            fprintf(out, "{\"metric\":\"latency\",\"value\":%.3f,\"unit\":\"us\"}\n", clients[i].latency[k] / 1e3);
            if (clients[i].size && clients[i].work[k] > 0)
                fprintf(out, "{\"metric\":\"work\",\"value\":%.6g,\"unit\":\"B/s\"}\n",
                        clients[i].size / (clients[i].work[k] / 1e9));
        }
    fprintf(out, "{\"metric\":\"elapsed\",\"value\":%.9f,\"unit\":\"s\"}\n", elapsed / 1e9);
    return fclose(out) ? perror(path), 1 : 0;
}

int main(int argc, char **argv) {
    int count = argc > 4 ? atoi(argv[1]) : 0;
    long size = argc > 4 ? strtol(argv[2], NULL, 10) : -1;
    if (count < 1 || count > MOST_CLIENTS || size < 0) {
        fputs("usage: wakeup CLIENTS BYTES OUTPUT LOAD...\n", stderr);
        return 2;
    }
    static struct client clients[MOST_CLIENTS];
    int wake[MOST_CLIENTS], done[2], pair[2];
    if (pipe(done)) return perror("wakeup"), 1;
    for (int i = 0; i < count; i++) {
        struct client *c = &clients[i];
        c->size = (size_t)size;
        c->data = malloc(c->size + 1);
        c->latency = calloc(MOST, sizeof *c->latency);
        c->work = calloc(MOST, sizeof *c->work);
        if (!c->data || !c->latency || !c->work || pipe(pair)) return perror("wakeup"), 1;
        fill(c->data, c->size, (uint64_t)i);
        c->wake = pair[0];
        c->done = done[1];
        wake[i] = pair[1];
        if (pthread_create(&c->thread, NULL, serve, c)) return fputs("wakeup: no thread\n", stderr), 1;
    }
    int64_t elapsed = 0;
    int failed = measure(count, wake, done[0], argv + 4, &elapsed);
    for (int i = 0; i < count; i++) {
        close(wake[i]);
        pthread_join(clients[i].thread, NULL);
    }
    return failed ? failed : report(argv[3], clients, count, elapsed);
}
