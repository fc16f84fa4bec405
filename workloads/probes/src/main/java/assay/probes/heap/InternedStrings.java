package assay.probes.heap;

import assay.probes.Held;
import assay.probes.Holding;
import java.util.ArrayList;
import java.util.List;

/**
 * Distinct strings in the JVM's string table: characters in the Java heap, one table entry of
 * malloc each.
 */
public final class InternedStrings implements Holding {
  private final int length;
  private final List<String> strings = new ArrayList<>();
  private int next;

  public InternedStrings(int length) {
    this.length = length;
  }

  @Override
  public void grow(int count) {
    for (int i = 0; i < count; i++) {
      strings.add(DistinctName.of("s", next++, length).intern());
    }
  }

  @Override
  public void release() {
    strings.clear();
  }

  @Override
  public Held held() {
    return new Held(strings.size(), (long) strings.size() * length);
  }
}
