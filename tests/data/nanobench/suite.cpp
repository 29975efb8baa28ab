// What the captured outputs were made with.
#define ANKERL_NANOBENCH_IMPLEMENT
#include <nanobench.h>

#include <cstdint>

static std::uint64_t sum(std::uint64_t n) {
  std::uint64_t s = 1;
  for (std::uint64_t i = 0; i < n; i++) ankerl::nanobench::doNotOptimizeAway(s = s * 3 + i);
  return s;
}

int main() {
  ankerl::nanobench::Bench bench;
  bench.title("sums").epochs(5).minEpochIterations(10).warmup(1).batch(10).unit("byte").relative(true);
  bench.run("short | \"quoted\"; `ticks`", [] { sum(10); });
  bench.run("long", [] { sum(1000); });
  ankerl::nanobench::Bench().epochs(5).epochIterations(2).run("two iterations", [] { sum(10); });
}
