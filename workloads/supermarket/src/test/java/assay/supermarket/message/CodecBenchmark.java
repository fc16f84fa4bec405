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

/**
 * What it costs to write and to read a report of one receipt with 60 bar codes, in each form. One
 * thread; the codec is shared as in the server. {@link PeerBenchmark} is what to hold it against;
 * the script {@code bench} runs both.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class CodecBenchmark extends CpuTime.Counted {
  private static final byte[] HEADER = new byte[80];

  /** A form of {@link Form} as a word. */
  public enum Way {
    PLAIN(false, false),
    COMPRESSED(false, true),
    SECURE(true, false),
    BOTH(true, true);

    final boolean secure;
    final boolean compressed;

    Way(boolean secure, boolean compressed) {
      this.secure = secure;
      this.compressed = compressed;
    }
  }

  @Param public Wire.Format format;

  @Param public Way way;

  private final Message message = Receipts.report();
  private Codec codec;
  private MessageType type;
  private byte[] bytes;

  /** Also says how many bytes the report has in this form, the header of 80 among them. */
  @Setup
  public void encode() throws MessageException {
    Form form = new Form(format, way.secure, way.compressed);
    codec = new Codec(new Catalogue(MessageTypes.ALL, any -> form), CompanyKeys.fresh());
    type = codec.catalogue().typeOf(message);
    bytes = write();
    System.out.printf("# bytes %s %s %d%n", format, way, bytes.length - HEADER.length);
  }

  @TearDown
  public void check() throws MessageException {
    if (!read().equals(message)) {
      throw new IllegalStateException("the message is another after its way");
    }
    codec.close();
  }

  @Benchmark
  public byte[] write() throws MessageException {
    return codec.encode(HEADER, message);
  }

  @Benchmark
  public Message read() throws MessageException {
    return codec.decode(type, bytes, HEADER.length);
  }
}
