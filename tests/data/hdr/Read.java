import org.HdrHistogram.*;

/** Prints what is in an interval log: "tag median-equivalent-value count" for each bucket. */
public class Read {
    public static void main(String[] arguments) throws Exception {
        HistogramLogReader reader = new HistogramLogReader(arguments[0]);
        for (EncodableHistogram each; (each = reader.nextIntervalHistogram()) != null; ) {
            Histogram histogram = (Histogram) each;
            String tag = histogram.getTag() == null ? "-" : histogram.getTag();
            for (HistogramIterationValue value : histogram.recordedValues())
                System.out.println(tag + " " + histogram.medianEquivalentValue(value.getValueIteratedTo()) + " " + value.getCountAddedInThisIterationStep());
        }
    }
}
