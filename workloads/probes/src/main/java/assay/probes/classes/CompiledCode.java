package assay.probes.classes;

import assay.probes.Held;
import assay.probes.Holding;
import assay.probes.Pause;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Methods made hot until the JVM compiles nothing more. {@code bytes} is what its code heaps grew
 * by; which methods were compiled, and how often, is its choice.
 */
public final class CompiledCode implements Holding {
  /**
   * So many calls that the method which makes them is too long to be compiled itself (8000 bytes of
   * code).
   */
  private static final int METHODS_PER_CLASS = 2_000;

  /** Beyond all thresholds of tiered compilation. */
  private static final int CALLS = 6_000;

  private static final int TURNS = 20;
  private static final long QUIET_MS = 1_000;
  private static final int QUIET_ROUNDS_MAX = 120;

  private final PoolUse code = PoolUse.code();
  private final List<IntUnaryOperator> callers = new ArrayList<>();
  private BytesLoader loader = new BytesLoader();
  private int next;
  private long count;
  private long codeBytes;
  private int sink;

  public CompiledCode() {
    // What calling itself makes hot is compiled before anything is counted.
    heat(caller(1));
    awaitQuiet();
  }

  @Override
  public void grow(int more) {
    long before = code.bytes();
    for (int done = 0; done < more; done += METHODS_PER_CLASS) {
      IntUnaryOperator caller = caller(Math.min(METHODS_PER_CLASS, more - done));
      heat(caller);
      callers.add(caller);
    }
    awaitQuiet();
    count += more;
    codeBytes += code.bytes() - before;
  }

  private void heat(IntUnaryOperator caller) {
    for (int call = 0; call < CALLS; call++) {
      sink += caller.applyAsInt(TURNS);
    }
  }

  private void awaitQuiet() {
    long before = code.bytes();
    for (int round = 0; round < QUIET_ROUNDS_MAX; round++) {
      Pause.ofMillis(QUIET_MS);
      long now = code.bytes();
      if (now == before) {
        return;
      }
      before = now;
    }
    throw new IllegalStateException("the JVM does not stop compiling");
  }

  private IntUnaryOperator caller(int methods) {
    byte[] bytes = HotClass.bytes("probe/Hot" + next++, methods);
    try {
      return (IntUnaryOperator) loader.define(bytes).getConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void release() {
    callers.clear();
    loader = new BytesLoader();
    count = 0;
    codeBytes = 0;
  }

  @Override
  public Held held() {
    return new Held(count, codeBytes).with("checksum", sink);
  }
}
