package assay.supermarket.message;

import assay.jmh.CpuTime;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** The same report as in {@link CodecBenchmark}, through what others would use for it. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class PeerBenchmark extends CpuTime.Counted {
  @Param public Peer peer;

  private final ReceiptReport message = Receipts.report();
  private byte[] bytes;

  /** Also says how many bytes the report has. */
  @Setup
  public void encode() throws Exception {
    bytes = write();
    System.out.printf("# bytes %s %d%n", peer, bytes.length);
  }

  @TearDown
  public void check() throws Exception {
    if (!read().equals(message)) {
      throw new IllegalStateException("the message is another after its way");
    }
  }

  @Benchmark
  public byte[] write() throws Exception {
    return peer.write(message);
  }

  @Benchmark
  public ReceiptReport read() throws Exception {
    return peer.read(bytes);
  }
}
