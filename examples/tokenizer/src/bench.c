/* bench FILE OUTPUT: tokenizes FILE in memory again and again, and writes the seconds of each pass, one number a line.
 *
 * Seconds of CPU time: a pass waits for nothing, and what else runs on the machine shows less in them.
 * How many passes comes from PERFGATE_WARMUP and PERFGATE_ITERATIONS; perfgate drops the warm-up itself.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "text.h"
#include "tokenizer.h"

static int from_environment(const char *name, int otherwise)
{
    const char *value = getenv(name);

    return value == NULL ? otherwise : atoi(value);
}

static double cpu_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    int passes = from_environment("PERFGATE_WARMUP", 1) + from_environment("PERFGATE_ITERATIONS", 10);
    size_t counts[TOKEN_KINDS];
    size_t length;
    char *text;
    FILE *output;

    if (argc != 3) {
        fprintf(stderr, "usage: bench FILE OUTPUT\n");
        return 2;
    }
    text = read_text(argv[1], &length);
    output = text == NULL ? NULL : fopen(argv[2], "w");
    if (output == NULL) {
        perror(text == NULL ? argv[1] : argv[2]);
        return 1;
    }
    for (int i = 0; i < passes; i++) {
        double start = cpu_seconds();

        if (count_tokens(text, length, counts) != 0) {
            fprintf(stderr, "%s: not JSON\n", argv[1]);
            return 1;
        }
        fprintf(output, "%.9f\n", cpu_seconds() - start);
    }
    free(text);
    return fclose(output) == 0 ? 0 : 1;
}
