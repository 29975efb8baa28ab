/* sample COUNT: prints a JSON list of COUNT made-up measurements, always the same ones. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long state = 1;

/* Numerical Recipes' linear congruential generator: the sample must not depend on the C library. */
static unsigned long next_number(unsigned long below)
{
    state = (1664525 * state + 1013904223) & 0xffffffff;
    return (state >> 8) % below;
}

int main(int argc, char **argv)
{
    static const char *const cities[] = {"Aarhus", "Bergen", "Coimbra", "Dijon", "Esbjerg", "Faro", "Ghent", "Hradec Kr\\u00e1lov\\u00e9"};
    long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;

    if (count < 1) {
        fprintf(stderr, "usage: sample COUNT\n");
        return 2;
    }
    for (long i = 0; i < count; i++) {
        printf("%s  {\"id\": %ld, \"city\": \"%s\", ", i == 0 ? "[\n" : ",\n", i, cities[next_number(8)]);
        printf("\"comment\": \"taken by hand, station %lu, read twice and \\\"rounded\\\"\", ", next_number(500));
        printf("\"temperature\": -%lu.%02lu, \"valid\": %s}", next_number(30), next_number(100), next_number(9) ? "true" : "null");
    }
    printf("\n]\n");
    return 0;
}
