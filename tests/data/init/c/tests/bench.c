#include <stdio.h>
#include <work.h>
int main(void) { printf("%d\n", work(30000000)); }
