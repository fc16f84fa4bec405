package assay.chat.engine;

import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Direct buffers for writing, in use only while somebody writes: the JDK would keep one for each
 * thread.
 */
final class Buffers {
  private static final int BYTES = 16 << 10;
  private static final int KEPT_MAX = 64;

  private static final ArrayBlockingQueue<ByteBuffer> FREE = new ArrayBlockingQueue<>(KEPT_MAX);

  private Buffers() {}

  static ByteBuffer take() {
    ByteBuffer buffer = FREE.poll();
    return buffer != null ? buffer : ByteBuffer.allocateDirect(BYTES);
  }

  static void give(ByteBuffer buffer) {
    // One that does not fit is left to the collector.
    boolean kept = FREE.offer(buffer);
    assert kept || FREE.remainingCapacity() == 0;
  }
}
