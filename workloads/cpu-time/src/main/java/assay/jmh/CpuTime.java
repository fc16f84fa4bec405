package assay.jmh;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ScalarResult;

/**
 * CPU time of the measuring threads for each operation. Unlike the time by the clock it leaves out
 * the time in which others had the processor; what they did to the caches meanwhile it does not. As
 * a JMH profiler ({@code -prof assay.jmh.CpuTime}) it adds {@code cpu_ns_per_op} to the results of
 * benchmarks that are {@link Counted}.
 */
public final class CpuTime implements InternalProfiler {
  /** Of all threads in the iteration that is measured. */
  private static final AtomicLong SUM_NS = new AtomicLong();

  /**
   * A benchmark whose threads count their CPU time. They do so themselves: seen from outside, an
   * iteration has the making of the data before it and the check of the answers behind it, which
   * the same threads do.
   */
  @State(Scope.Thread)
  public abstract static class Counted {
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long beforeNs;

    @Setup(Level.Iteration)
    public void beginCounting() {
      beforeNs = threads.getCurrentThreadCpuTime();
    }

    @TearDown(Level.Iteration)
    public void endCounting() {
      SUM_NS.addAndGet(threads.getCurrentThreadCpuTime() - beforeNs);
    }
  }

  @Override
  public String getDescription() {
    return "CPU time of the measuring threads for each operation";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    SUM_NS.set(0);
  }

  @Override
  public Collection<ScalarResult> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    long operations = result.getMetadata().getAllOps();
    long ns = SUM_NS.get();
    if (operations == 0 || ns <= 0) {
      return Collections.emptyList();
    }
    double perOperation = (double) ns / operations;
    return Collections.singletonList(
        new ScalarResult("cpu_ns_per_op", perOperation, "ns/op", AggregationPolicy.AVG));
  }
}
