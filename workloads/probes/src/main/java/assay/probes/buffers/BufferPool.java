package assay.probes.buffers;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/**
 * What came to one of the JVM's pools of buffers since the probe began, by the JVM's own account.
 */
final class BufferPool {
  private final BufferPoolMXBean pool;
  private final long countAtFirst;
  private final long bytesAtFirst;

  private BufferPool(BufferPoolMXBean pool) {
    this.pool = pool;
    this.countAtFirst = pool.getCount();
    this.bytesAtFirst = pool.getMemoryUsed();
  }

  static BufferPool named(String name) {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(each -> each.getName().equals(name))
        .findFirst()
        .map(BufferPool::new)
        .orElseThrow(() -> new IllegalStateException("no pool of " + name + " buffers"));
  }

  long count() {
    return pool.getCount() - countAtFirst;
  }

  long bytes() {
    return pool.getMemoryUsed() - bytesAtFirst;
  }
}
