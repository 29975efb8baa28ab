/* bench FILE OUTPUT PASSES SECONDS: tokenizes FILE again and again, and writes the nanoseconds of each pass by the wall
 * clock, one number a line. It ends after PASSES passes, or when SECONDS are over; 0: the other one decides. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "text.h"
#include "tokenizer.h"

static long long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv)
{
    static long long taken[1000000];
    size_t counts[TOKEN_KINDS], length;
    long long begun = now(), limit;
    int passes, done = 0;
    char *text;
    FILE *output;

    if (argc != 5)
        return 2;
    passes = atoi(argv[3]);
    limit = (long long)(1e9 * atof(argv[4]));
    text = read_text(argv[1], &length);
    if (text == NULL)
        return 1;
    while (done < 1000000 && (passes ? done < passes : now() - begun < limit)) {
        long long start = now();

        if (count_tokens(text, length, counts) != 0)
            return 1;
        taken[done++] = now() - start;
    }
    output = fopen(argv[2], "w");
    if (output == NULL)
        return 1;
    for (int i = 0; i < done; i++)
        fprintf(output, "%lld\n", taken[i]);
    return fclose(output) == 0 ? 0 : 1;
}
