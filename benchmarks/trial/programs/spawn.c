/* spawn PROGRAM FILE TWICE EVERY OUTPUT PASSES SECONDS: starts PROGRAM FILE again and again, and writes the nanoseconds
 * of each process by the wall clock; every EVERYth is given the file TWICE (0: none),
 * counted from TRIAL_OFFSET. Its end is that of bench. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv)
{
    static long long taken[1000000];
    posix_spawn_file_actions_t actions;
    long long begun = now(), limit;
    int passes, every, before = 0, done = 0;
    FILE *output;

    if (argc != 8)
        return 2;
    every = atoi(argv[4]);
    if (getenv("TRIAL_OFFSET") != NULL)
        before = atoi(getenv("TRIAL_OFFSET"));
    passes = atoi(argv[6]);
    limit = (long long)(1e9 * atof(argv[7]));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    while (done < 1000000 && (passes ? done < passes : now() - begun < limit)) {
        char *file = every && (before + done + 1) % every == 0 ? argv[3] : argv[2];
        char *words[] = {argv[1], file, NULL};
        long long start = now();
        pid_t child;
        int status;

        if (posix_spawn(&child, argv[1], &actions, NULL, words, environ) != 0)
            return 1;
        if (waitpid(child, &status, 0) != child || status != 0)
            return 1;
        taken[done++] = now() - start;
    }
    output = fopen(argv[5], "w");
    if (output == NULL)
        return 1;
    for (int i = 0; i < done; i++)
        fprintf(output, "%lld\n", taken[i]);
    return fclose(output) == 0 ? 0 : 1;
}
