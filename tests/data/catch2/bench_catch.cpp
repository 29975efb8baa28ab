#ifdef V2
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
#else
#include "catch_amalgamated.hpp"
#endif
#include <cstdint>
#include <stdexcept>

static std::uint64_t sum(std::uint64_t n) {
  volatile std::uint64_t s = 1;
  for (std::uint64_t i = 0; i < n; i++) s = s * 3 + i;
  return s;
}

TEST_CASE("sums") {
  CHECK(sum(0) == 1);
  BENCHMARK("short & <fast>") { return sum(10); };
  SECTION("in a section") {
    BENCHMARK("a name that is much longer than the column that the table has for it, so that it is broken") { return sum(100000); };
  }
}

TEST_CASE("fails") {
  BENCHMARK("throws") -> int { throw std::runtime_error("no such file"); };
  BENCHMARK_ADVANCED("advanced")(Catch::Benchmark::Chronometer meter) {
    meter.measure([] { return sum(1000); });
  };
}
