// The reader and the sums alone, under Google Benchmark.
#include "csv.h"
#include "sample.h"
#include "totals.h"

#include <benchmark/benchmark.h>

static void Read(benchmark::State& state)
{
    const std::string text = sample(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        csv::Reader reader(text);
        while (reader.next())
            benchmark::DoNotOptimize(reader.row().data());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(Read)->Arg(2000);

static void Totals(benchmark::State& state)
{
    const std::string text = sample(static_cast<int>(state.range(0)));
    for (auto _ : state)
        benchmark::DoNotOptimize(csv::totals(text, "city", "amount"));
}
BENCHMARK(Totals)->Arg(2000);

BENCHMARK_MAIN();
