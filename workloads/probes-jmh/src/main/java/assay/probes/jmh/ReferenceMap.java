package assay.probes.jmh;

import assay.jmh.CpuTime;
import java.util.HashMap;
import java.util.Map;
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
 * Isolates what a hash map costs whose keys, nodes and values are all objects: a look-up follows
 * four references (array of keys, table, node, key) that, unlike those of {@link PointerChase},
 * overlap with the next look-up's. One operation is one {@code get} or {@code put}.
 *
 * <p>{@code put} replaces the value of a key that is there: it allocates nothing, so no collection
 * is measured, but it stores a reference into an old object, with the collector's barrier. 65,536
 * entries take 4 to 6 MiB.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ReferenceMap extends CpuTime.Counted {
  private static final int BATCH = 1024;

  @Param("65536")
  public int entries;

  private Map<Key, Value> map;
  private Key[] keys;
  private Value[] values;
  private int mask;
  private int from;
  private long gotten;
  private long sum;
  private long stored;

  static final class Key {
    final int number;

    Key(int number) {
      this.number = number;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key && ((Key) other).number == number;
    }

    /**
     * Spread, so that neither the table nor the nodes are visited in the order of their addresses.
     */
    @Override
    public int hashCode() {
      return number * 0x9E3779B9;
    }
  }

  static final class Value {
    final int number;

    Value(int number) {
      this.number = number;
    }
  }

  @Setup
  public void fill() {
    mask = Shuffled.mask(entries);
    LiveHeap.Before before = LiveHeap.before();
    make();
    before.with(map);
  }

  /** A method of its own: what an interpreted one has in its variables lives until it returns. */
  private void make() {
    map = new HashMap<>(entries * 2);
    keys = new Key[entries];
    values = new Value[entries];
    for (int number : Shuffled.numbers(entries)) {
      Key key = new Key(number);
      Value value = new Value(number);
      keys[number] = key;
      values[number] = value;
      map.put(key, value);
    }
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long get() {
    long numbers = 0;
    for (int i = from; i < from + BATCH; i++) {
      numbers += map.get(keys[i & mask]).number;
    }
    from = (from + BATCH) & mask;
    gotten += BATCH;
    sum += numbers;
    return numbers;
  }

  /** In each round over the keys, every key gets the value after the one that it has. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public Value put() {
    int shift = round(stored);
    Value before = null;
    for (int i = from; i < from + BATCH; i++) {
      before = map.put(keys[i & mask], values[(i + shift) & mask]);
    }
    from = (from + BATCH) & mask;
    stored += BATCH;
    return before;
  }

  /** 1 in the first round, 2 in the second, ... */
  private int round(long operations) {
    return (int) ((operations / entries + 1) & mask);
  }

  /** Every look-up gave its key's value, and every key has the value that was put last. */
  @TearDown
  public void check() {
    WrongAnswer.unless(map.size() == entries, map.size() + " entries");
    long expected = gotten / entries * ((long) entries * (entries - 1) / 2);
    for (int i = 0; i < gotten % entries; i++) {
      expected += i;
    }
    WrongAnswer.unless(sum == expected, "sum of the values " + sum + ", not " + expected);
    for (int i = 0; i < entries; i++) {
      boolean isInThisRound = i < stored % entries;
      int number = (i + round(stored) - (isInThisRound ? 0 : 1)) & mask;
      WrongAnswer.unless(map.get(keys[i]).number == number, "key " + i + " has another's value");
    }
  }
}
