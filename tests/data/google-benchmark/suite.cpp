// What the captured outputs were made with; also built and run by tests/tools/test_google_benchmark.py.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

static void Copy(benchmark::State& state) {
  std::vector<char> from(state.range(0), 'x'), to(state.range(0));
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Copy)->Arg(1024)->Arg(4096);

static void Counters(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(state.iterations());
  state.counters["depth"] = -3;
  state.counters["hits"] = benchmark::Counter(1, benchmark::Counter::kIsRate);
  state.SetLabel("a label, \"quoted\"");
}
BENCHMARK(Counters)->Unit(benchmark::kMillisecond)->Threads(2);

static void Undefined(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(state.iterations());
  state.counters["share"] = NAN;
}
BENCHMARK(Undefined);

static void Endless(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(state.iterations());
  state.counters["share"] = -INFINITY;
}
BENCHMARK(Endless);

static void Broken(benchmark::State& state) {
  state.SkipWithError("no such file:\n\"data\"");
  for (auto _ : state) {
  }
}
BENCHMARK(Broken);

static void Manual(benchmark::State& state) {
  for (auto _ : state) state.SetIterationTime(0.25);
}
BENCHMARK(Manual)->UseManualTime()->Iterations(2)->Unit(benchmark::kSecond);

static void Linear(benchmark::State& state) {
  std::string text(state.range(0), '-');
  for (auto _ : state) benchmark::DoNotOptimize(std::hash<std::string>()(text));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(Linear)->Range(64, 512)->Complexity(benchmark::oN);

static void Few(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(state.iterations());
}
BENCHMARK(Few)->Repetitions(2)->Unit(benchmark::kMicrosecond);
BENCHMARK(Few)->Name("Summary")->Repetitions(2)->ReportAggregatesOnly();
BENCHMARK(Few)->Name("Twice")->Iterations(10);
BENCHMARK(Few)->Name("Twice")->Iterations(10);

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("a b/'c'\"\\d\"\n\t\x01/🐢 é", Few)->Iterations(10);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
