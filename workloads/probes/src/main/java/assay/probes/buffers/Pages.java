package assay.probes.buffers;

import java.nio.ByteBuffer;

/** Writing to every page of a buffer. */
final class Pages {
  /** The smallest page of the machines that Assay runs on. */
  private static final int PAGE_BYTES = 4096;

  private Pages() {}

  static void touch(ByteBuffer buffer) {
    for (int i = 0; i < buffer.capacity(); i += PAGE_BYTES) {
      buffer.put(i, (byte) 0x5a);
    }
    buffer.put(buffer.capacity() - 1, (byte) 0x5a);
  }
}
