package assay.probes.classes;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.List;
import java.util.function.Predicate;

/** Bytes in use by the JVM's own account of some of its memory pools. */
final class PoolUse {
  private final List<MemoryPoolMXBean> pools;

  private PoolUse(Predicate<String> wanted) {
    this.pools =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> wanted.test(pool.getName()))
            .toList();
    if (pools.isEmpty()) {
      throw new IllegalStateException("this JVM has no such memory pool");
    }
  }

  /** Class metadata, the compressed class space included. */
  static PoolUse metaspace() {
    return new PoolUse(name -> name.equals("Metaspace"));
  }

  /** All code heaps, or the one code cache of a JVM that does not part it. */
  static PoolUse code() {
    return new PoolUse(name -> name.startsWith("Code"));
  }

  long bytes() {
    return pools.stream().mapToLong(pool -> pool.getUsage().getUsed()).sum();
  }
}
