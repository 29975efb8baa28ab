#include <sys/wait.h>
#include <unistd.h>

static volatile long sum;

int main(void) {
    for (long i = 0; i < 100000; i++) sum += i;
    if (fork() == 0) {
        for (long i = 0; i < 50000; i++) sum += i;
        _exit(0);
    }
    wait(NULL);
    return 0;
}
