#include <benchmark/benchmark.h>
int fib(int);
static void BM_Fib(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(fib(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_Fib)->Arg(5)->Arg(10);
