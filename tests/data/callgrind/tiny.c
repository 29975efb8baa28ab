static int loop(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
void _start(void) { loop(1000); __asm__ volatile("mov $60,%eax; xor %edi,%edi; syscall"); }
