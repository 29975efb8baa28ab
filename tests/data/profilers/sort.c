#include <stdio.h>
#include <stdlib.h>
static int twice(int x) { return x * 2 + (x >> 3); }
__attribute__((noinline)) int weigh(int n) { int s = 0; for (int i = 0; i < n; i++) s += twice(i) % 7; return s; }
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) int both(int n) { return weigh(n) + weigh(2 * n) + fib(10); }
int main(void) { int s = 0; for (int i = 0; i < 5; i++) s += both(100 + i); s += weigh(50); printf("%d\n", s); return 0; }
