package assay.probes.buffers;

import assay.probes.Held;
import assay.probes.Holding;
import assay.probes.Pause;

/**
 * Direct buffers that are allocated, released and collected at once: what is left is memory that
 * was given to free(). It is the allocator's choice how much of it stays resident.
 */
public final class FreedBuffers implements Holding {
  private static final int ROUNDS_MAX = 100;

  private final DirectBuffers buffers;
  private final int bytes;
  private long freed;

  public FreedBuffers(int bytes) {
    this.bytes = bytes;
    this.buffers = new DirectBuffers(bytes);
  }

  @Override
  public void grow(int count) {
    buffers.grow(count);
    buffers.release();
    for (int round = 0; round < ROUNDS_MAX; round++) {
      System.gc();
      if (buffers.isSettled()) {
        freed += count;
        return;
      }
      Pause.ofMillis(20);
    }
    throw new IllegalStateException("the collector left direct buffers");
  }

  @Override
  public void release() {
    // Nothing is held.
  }

  @Override
  public Held held() {
    return buffers.held().with("freed_count", freed).with("freed_bytes", freed * bytes);
  }
}
