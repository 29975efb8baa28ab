package tiny;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Benchmark)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@BenchmarkMode({Mode.Throughput, Mode.AverageTime})
@Warmup(time = 50, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(time = 50, timeUnit = TimeUnit.MILLISECONDS)
public class Tiny {
    @Param({"10", "100"})
    int size;

    @Param({"a b", "\"q\", 🐢"})
    String text;

    @Benchmark
    public long fold() {
        long sum = 0;
        for (int i = 0; i < size; i++) sum = sum * 31 + text.charAt(i % text.length());
        return sum;
    }

    @State(Scope.Benchmark)
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    public static class Others {
        @Benchmark
        @BenchmarkMode(Mode.SampleTime)
        public long sampled() { return System.nanoTime(); }

        @Benchmark
        @BenchmarkMode(Mode.SingleShotTime)
        public byte[] shot() { return new byte[1024]; }

        @Benchmark
        public long fails() {
            if (Boolean.getBoolean("tiny.fail")) throw new IllegalStateException("as asked");
            return 1;
        }
    }

    @State(Scope.Thread)
    @AuxCounters
    public static class Counted { public long hits; }

    @Benchmark
    @Threads(2)
    public void aux(Counted counted) { counted.hits += 2; }

    @Benchmark
    @Group("pair")
    @GroupThreads(1)
    public long left() { return size; }

    @Benchmark
    @Group("pair")
    @GroupThreads(1)
    public long right() { return size; }
}
