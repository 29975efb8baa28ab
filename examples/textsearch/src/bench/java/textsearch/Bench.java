package textsearch;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.List;

/**
 * {@code java textsearch.Bench index|search OUTPUT}: writes the seconds of each pass, one number a line.
 *
 * <p>Seconds of this thread's CPU time: what else runs on the machine shows less in them, and neither the compiler's
 * threads nor the collector's count. How many passes comes from PERFGATE_WARMUP and PERFGATE_ITERATIONS; perfgate drops
 * the warm-up itself.
 */
public final class Bench {
    private static final int LINES = 4000;
    private static final int QUERIES = 1000;

    /** Keeps what a pass found, so that the JIT compiler cannot drop the work. */
    static volatile long kept;

    private Bench() {}

    public static void main(String[] arguments) throws IOException {
        Sample sample = new Sample();
        List<String> lines = sample.lines(LINES);
        List<String> queries = sample.queries(QUERIES);
        Index index = index(lines);
        boolean searching = arguments[0].equals("search");
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        int passes = setting("PERFGATE_WARMUP", 30) + setting("PERFGATE_ITERATIONS", 10);
        try (PrintWriter output = new PrintWriter(Path.of(arguments[1]).toFile())) {
            for (int pass = 0; pass < passes; pass++) {
                long start = clock.getCurrentThreadCpuTime();
                kept += searching ? search(index, queries) : index(lines).size();
                output.println((clock.getCurrentThreadCpuTime() - start) / 1e9);
            }
        }
    }

    private static Index index(List<String> lines) {
        Index index = new Index();
        lines.forEach(index::add);
        return index;
    }

    private static long search(Index index, List<String> queries) {
        long found = 0;
        for (String query : queries) {
            found += index.search(query).size();
        }
        return found;
    }

    private static int setting(String name, int otherwise) {
        String value = System.getenv(name);
        return value == null ? otherwise : Integer.parseInt(value);
    }
}
