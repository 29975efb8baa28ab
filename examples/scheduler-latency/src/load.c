/* Background loads that end by themselves: a fixed amount of work, so that how long it takes is a result too.
 *
 *   load mixed WORK   one process that compresses, and writes and reads a file, as a compiler does
 *   load cpu WORK     two processes that only compute, as a video encoder does
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compress.h"

enum { SIZE = 1 << 16 };
static volatile size_t result;

static void compute(long work) {
    static unsigned char data[SIZE];
    for (long i = 0; i < work; i++) {
        fill(data, SIZE, (uint64_t)i);
        result = compress(data, SIZE);
    }
}

static int mixed(long work) {
    static unsigned char data[SIZE];
    FILE *file = tmpfile();
    if (!file) return perror("load"), 1;
    for (long i = 0; i < work; i++) {
        fill(data, SIZE, (uint64_t)i);
        result = compress(data, SIZE);
        rewind(file);
        if (fwrite(data, 1, SIZE, file) != SIZE || fflush(file) || fsync(fileno(file))) return perror("load"), 1;
        rewind(file);
        if (fread(data, 1, SIZE, file) != SIZE) return perror("load"), 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    long work = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (work < 1) return fputs("usage: load mixed|cpu WORK\n", stderr), 2;
    if (!strcmp(argv[1], "mixed")) return mixed(work);
    pid_t other = fork();
    if (other < 0) return perror("load"), 1;
    compute(work);
    if (other > 0) wait(NULL);
    return 0;
}
