package assay.probes.contention;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that count, each in a counter of its own and all in one: {@code Contention RESULTS
 * SECONDS THREADS}.
 *
 * <p>The counters lie CONTENTION_STRIDE bytes apart (environment; 256 where it is not set), from
 * the beginning of a cache line on: at 8 bytes they share it (false sharing), at 256 neither they
 * nor their neighbours do, which some processors fetch with it. The results are JMH's JSON: time of
 * one increment of one thread, when each has its own counter ({@code own}) and when all have the
 * same ({@code shared}). An increment that was lost is an error.
 */
public final class Contention {
  /** No cache line of today is longer. */
  private static final int LINE_BYTES = 128;

  private static final double WARM_UP_S = 1;
  private static final int INCREMENTS = 1_000;
  private static final VarHandle COUNTER =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final ByteBuffer counters;
  private final int threads;
  private final int stride;

  private Contention(int threads, int stride) {
    this.threads = threads;
    this.stride = stride;
    // Atomic operations on a buffer need an aligned one outside the heap.
    int bytes = Math.max(threads * stride, Long.BYTES);
    counters = ByteBuffer.allocateDirect(bytes + 2 * LINE_BYTES).alignedSlice(LINE_BYTES);
  }

  /** Measures both and writes the results. */
  public static void main(String[] words) throws IOException, InterruptedException {
    double seconds = Double.parseDouble(words[1]);
    int threads = Integer.parseInt(words[2]);
    String stride = System.getenv().getOrDefault("CONTENTION_STRIDE", "256");
    double ownNs = new Contention(threads, Integer.parseInt(stride)).nsPerIncrement(seconds);
    double sharedNs = new Contention(threads, 0).nsPerIncrement(seconds);
    String results = String.format("[%s,%s]", result("own", ownNs), result("shared", sharedNs));
    Files.writeString(Path.of(words[0]), results);
  }

  private static String result(String name, double nsPerOp) {
    return String.format(
        Locale.ROOT,
        "{\"benchmark\":\"assay.probes.contention.Contention.%s\",\"primaryMetric\":{\"scoreUnit\":\"ns/op\",\"rawData\":[[%f]]}}",
        name,
        nsPerOp);
  }

  private double nsPerIncrement(double seconds) throws InterruptedException {
    countFor(WARM_UP_S);
    long begun = System.nanoTime();
    long increments = countFor(seconds);
    return (System.nanoTime() - begun) * (double) threads / increments;
  }

  /** All threads count for so long; how often they did, in all. */
  private long countFor(double seconds) throws InterruptedException {
    long before = sum();
    CountDownLatch begin = new CountDownLatch(1);
    long[] done = new long[threads];
    Thread[] all = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      int thread = i;
      all[i] = new Thread(() -> done[thread] = count(begin, seconds, thread * stride));
      all[i].start();
    }
    begin.countDown();
    long increments = 0;
    for (int i = 0; i < threads; i++) {
      all[i].join();
      increments += done[i];
    }
    if (sum() - before != increments) {
      throw new IllegalStateException(
          "of " + increments + " increments " + (sum() - before) + " were counted");
    }
    return increments;
  }

  private long count(CountDownLatch begin, double seconds, int at) {
    try {
      begin.await();
    } catch (InterruptedException e) {
      return 0;
    }
    long end = System.nanoTime() + (long) (seconds * 1e9);
    long increments = 0;
    while (System.nanoTime() < end) {
      for (int i = 0; i < INCREMENTS; i++) {
        COUNTER.getAndAdd(counters, at, 1L);
      }
      increments += INCREMENTS;
    }
    return increments;
  }

  private long sum() {
    long sum = 0;
    for (int i = 0; i < (stride == 0 ? 1 : threads); i++) {
      sum += (long) COUNTER.getVolatile(counters, i * stride);
    }
    return sum;
  }
}
