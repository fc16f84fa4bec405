package assay.supermarket.message;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.List;
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
 * Adds {@code cpu_ns_per_op} to a benchmark's results: what the measuring thread used, without the
 * time in which others had the processor. The suite of the probes has the same.
 */
public final class CpuTime implements InternalProfiler {
  private static final AtomicLong SUM_NS = new AtomicLong();

  /** A benchmark of one thread that counts its own CPU time. */
  @State(Scope.Benchmark)
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
    return "CPU time of the measuring thread for each operation";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    SUM_NS.set(0);
  }

  @Override
  public Collection<ScalarResult> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    long operations = result.getMetadata().getAllOps();
    if (operations == 0) {
      return List.of();
    }
    double each = (double) SUM_NS.get() / operations;
    return List.of(new ScalarResult("cpu_ns_per_op", each, "ns/op", AggregationPolicy.AVG));
  }
}
