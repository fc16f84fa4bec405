package assay.probes.classes;

import assay.probes.Held;
import assay.probes.Holding;
import assay.probes.heap.DistinctName;
import java.util.ArrayList;
import java.util.List;

/**
 * Distinct names in constant pools: a symbol of the JVM each. {@code bytes} counts the symbols as
 * HotSpot lays them out: 6 bytes, the name, rounded up to 8.
 */
public final class Symbols implements Holding {
  private static final int NAMES_PER_CLASS_MAX = 50_000;
  private static final int NAME_BYTES_PER_CLASS_MAX = 4 << 20;
  private static final int HEADER_BYTES = 6;
  private static final int WORD_BYTES = 8;
  private static final int LENGTH_MAX = 0xFFFF;

  private final int length;
  private final int namesPerClass;
  private final List<Class<?>> classes = new ArrayList<>();
  private BytesLoader loader = new BytesLoader();
  private int next;
  private long count;

  public Symbols(int length) {
    if (length > LENGTH_MAX) {
      throw new IllegalArgumentException("a name has at most " + LENGTH_MAX + " bytes");
    }
    this.length = length;
    this.namesPerClass = Math.min(NAMES_PER_CLASS_MAX, NAME_BYTES_PER_CLASS_MAX / length);
  }

  @Override
  public void grow(int more) {
    for (int done = 0; done < more; done += namesPerClass) {
      ClassFile file = new ClassFile("probe/Names" + next, "java/lang/Object");
      for (int i = 0; i < Math.min(namesPerClass, more - done); i++) {
        file.utf8(DistinctName.of("n", next++, length));
      }
      classes.add(loader.define(file.toBytes()));
    }
    count += more;
  }

  @Override
  public void release() {
    classes.clear();
    loader = new BytesLoader();
    count = 0;
  }

  @Override
  public Held held() {
    long each = (HEADER_BYTES + (long) length + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES;
    return new Held(count, count * each).with("name_bytes", count * length);
  }
}
