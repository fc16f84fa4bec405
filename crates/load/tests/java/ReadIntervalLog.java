// Reads an interval log with Java's own HistogramLogReader and prints, for each interval:
// tag, start in seconds from the base time, count, p50 and max in nanoseconds.

import java.io.File;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

public final class ReadIntervalLog {
    public static void main(String[] args) throws Exception {
        try (HistogramLogReader reader = new HistogramLogReader(new File(args[0]))) {
            while (reader.hasNext()) {
                Histogram histogram = (Histogram) reader.nextIntervalHistogram();
                if (histogram == null) {
                    continue;
                }
                System.out.printf("%s %d %d %d%n", histogram.getTag(), histogram.getTotalCount(),
                        histogram.getValueAtPercentile(50.0), histogram.getMaxValue());
            }
        }
    }
}
