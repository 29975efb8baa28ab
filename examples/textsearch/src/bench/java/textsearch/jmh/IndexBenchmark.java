package textsearch.jmh;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import textsearch.Index;
import textsearch.Sample;

/** The same work as in Bench, measured by JMH. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class IndexBenchmark {
    private final Sample sample = new Sample();
    private final List<String> lines = sample.lines(4000);
    private final List<String> queries = sample.queries(1000);
    private final Index full = index();

    @Benchmark
    public Index index() {
        Index index = new Index();
        lines.forEach(index::add);
        return index;
    }

    @Benchmark
    public int search() {
        int found = 0;
        for (String query : queries) {
            found += full.search(query).size();
        }
        return found;
    }
}
