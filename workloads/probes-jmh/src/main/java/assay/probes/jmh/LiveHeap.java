package assay.probes.jmh;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Collection;
import java.util.Collections;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ScalarResult;

/**
 * What a benchmark's data takes in the Java heap: used bytes after a full collection with it, less
 * those without it.
 *
 * <p>The collection has a second use: it moves the data to the old generation, in the order in
 * which it was allocated, so that every run measures the same layout and none measures a
 * collection. As a JMH profiler ({@code -prof assay.probes.jmh.LiveHeap}) it adds {@code
 * live_bytes} to the results.
 */
public final class LiveHeap implements InternalProfiler {
  private static final int COLLECTIONS_MAX = 10;

  /**
   * In three of four full collections the serial collector of JDK 17 may leave dead objects where
   * they lie, and they count as used ({@code MarkSweepAlwaysCompactCount}).
   */
  private static final int COLLECTIONS_FOR_ALL_DEAD = 4;

  /** Two collections that differ by no more show that nothing else is let go of. */
  private static final long SETTLED_BYTES = 1024;

  /** Of the last data set of this JVM; JMH has a JVM for each benchmark. */
  private static volatile long liveBytes = -1;

  /** Called before the data is made; the data is then given to {@link Before#with}. */
  static Before before() {
    // What JMH's other threads still hold for a moment is not to be taken for a part of the JVM's
    // own.
    long last = Long.MAX_VALUE;
    long used = used();
    for (int i = 0; i < COLLECTIONS_MAX && used < last - SETTLED_BYTES; i++) {
      last = used;
      used = used();
    }
    return new Before(used);
  }

  /** Used bytes without the data. */
  static final class Before {
    /** What is measured is reachable from here meanwhile. */
    private static volatile Object held;

    private final long usedBytes;

    Before(long usedBytes) {
      this.usedBytes = usedBytes;
    }

    /** Collects, and takes the account of what is live now. */
    void with(Object data) {
      held = data;
      liveBytes = used() - usedBytes;
      WrongAnswer.unless(held == data, "two data sets at once");
      held = null;
    }
  }

  private static long used() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < COLLECTIONS_FOR_ALL_DEAD; i++) {
      System.gc();
      least = Math.min(least, usedAfterCollection());
    }
    return least;
  }

  /**
   * What the collection itself has left: a thread that has allocated since has a whole buffer of
   * its own, of 1 MiB and more, that counts as used.
   */
  private static long usedAfterCollection() {
    long used = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getType() == MemoryType.HEAP) {
        MemoryUsage collected = pool.getCollectionUsage();
        used += (collected == null ? pool.getUsage() : collected).getUsed();
      }
    }
    return used;
  }

  @Override
  public String getDescription() {
    return "Java heap that a benchmark's data takes after a full collection";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {}

  @Override
  public Collection<ScalarResult> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    if (liveBytes < 0) {
      return Collections.emptyList();
    }
    return Collections.singletonList(
        new ScalarResult("live_bytes", liveBytes, "B", AggregationPolicy.MAX));
  }
}
