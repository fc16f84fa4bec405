package assay.probes.jmh;

import assay.jmh.CpuTime;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Isolates the width of a reference: {@code System.arraycopy} between old arrays moves references
 * as they are, without decoding them, then marks the cards of the target. One operation is one copy
 * of {@code length} references: 4 bytes each when compressed, 8 otherwise.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ArrayCopy extends CpuTime.Counted {
  @Param({"1024", "1048576"})
  public int length;

  private Object[][] sources;
  private Object[] target;
  private long copies;

  @Setup
  public void fill() {
    LiveHeap.Before before = LiveHeap.before();
    Object[] objects = {new Object(), new Object(), new Object()};
    sources = new Object[2][length];
    for (int i = 0; i < length; i++) {
      sources[0][i] = objects[i % 3];
      sources[1][i] = objects[(i + 1) % 3];
    }
    target = new Object[length];
    before.with(sources);
  }

  @Benchmark
  public Object[] copy() {
    System.arraycopy(sources[(int) (copies & 1)], 0, target, 0, length);
    copies++;
    return target;
  }

  /** The target is what was copied last. */
  @TearDown
  public void check() {
    Object[] source = copies == 0 ? new Object[length] : sources[(int) (copies - 1 & 1)];
    for (int i = 0; i < length; i++) {
      WrongAnswer.unless(target[i] == source[i], "reference " + i + " was not copied");
    }
  }
}
