package sample;

import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
public class Sum {
    @Benchmark
    public long sum() {
        long s = 0;
        for (int i = 0; i < 1000; i++) s += i ^ (s << 1);
        return s;
    }
}
