package assay.probes.jmh;

import assay.jmh.CpuTime;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Isolates a reference store into an old object: decode the object's address, encode the value,
 * store it, and mark the card of the address for the collector. The objects lie in the old
 * generation and are visited in shuffled order, so the cards are as well. One operation is one
 * store.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CardMarking extends CpuTime.Counted {
  private static final int BATCH = 1024;

  @Param("65536")
  public int holders;

  private Holder[] shuffled;
  private Object[] values;
  private int mask;
  private int from;
  private long stored;

  static final class Holder {
    Object value;
  }

  @Setup
  public void age() {
    mask = Shuffled.mask(holders);
    LiveHeap.Before before = LiveHeap.before();
    make();
    // A full collection makes them old.
    before.with(shuffled);
  }

  /** A method of its own: what an interpreted one has in its variables lives until it returns. */
  private void make() {
    shuffled = new Holder[holders];
    for (int at : Shuffled.numbers(holders)) {
      shuffled[at] = new Holder();
    }
    values = new Object[] {new Object(), new Object()};
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void store() {
    Object value = value(stored);
    for (int i = from; i < from + BATCH; i++) {
      shuffled[i & mask].value = value;
    }
    from = (from + BATCH) & mask;
    stored += BATCH;
  }

  /** One value in the first round over the holders, the other in the second, and so on in turn. */
  private Object value(long stores) {
    return values[(int) (stores / holders & 1)];
  }

  /** Every holder has the value that was stored last. */
  @TearDown
  public void check() {
    for (int i = 0; i < holders; i++) {
      boolean isInThisRound = i < stored % holders;
      boolean isInFirstRound = stored < holders;
      Object expected = isInFirstRound ? null : value(stored - holders);
      Object wanted = isInThisRound ? value(stored) : expected;
      WrongAnswer.unless(shuffled[i].value == wanted, "holder " + i + " has another value");
    }
  }
}
