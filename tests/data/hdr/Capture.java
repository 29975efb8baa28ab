import java.io.*;
import java.util.*;
import org.HdrHistogram.*;

/** Writes a tagged interval log. */
public class Capture {
    public static void main(String[] arguments) throws Exception {
        Random random = new Random(7);
        try (PrintStream log = new PrintStream(arguments[0])) {
            HistogramLogWriter writer = new HistogramLogWriter(log);
            writer.outputComment("[Logged by a test]");
            writer.outputLogFormatVersion();
            writer.outputStartTime(1700000000000L);
            writer.setBaseTime(1700000000000L);
            writer.outputLegend();
            for (int interval = 0; interval < 4; interval++) {
                Histogram histogram = new Histogram(1, 3600000000000L, interval == 3 ? 1 : 3);
                String tag = interval % 2 == 0 ? null : "read";
                histogram.setTag(tag);
                for (int i = 0; i < 40; i++) histogram.recordValue((long) Math.exp(10 + 2 * random.nextGaussian()));
                if (interval == 2) histogram.recordValueWithCount(3600000000000L, 70000);
                histogram.setStartTimeStamp(1700000000000L + 1000 * interval);
                histogram.setEndTimeStamp(1700000001000L + 1000 * interval);
                writer.outputIntervalHistogram(histogram);
            }
        }
    }
}
