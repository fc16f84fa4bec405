package assay.probes.buffers;

import assay.probes.Held;
import assay.probes.Holding;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Direct buffers. The JVM writes zeros to all of a new one, so that it is resident. */
public final class DirectBuffers implements Holding {
  private final int bytes;
  private final BufferPool pool = BufferPool.named("direct");
  private final List<ByteBuffer> buffers = new ArrayList<>();

  public DirectBuffers(int bytes) {
    this.bytes = bytes;
  }

  @Override
  public void grow(int count) {
    for (int i = 0; i < count; i++) {
      buffers.add(ByteBuffer.allocateDirect(bytes));
    }
  }

  @Override
  public void release() {
    buffers.clear();
  }

  @Override
  public void touch() {
    buffers.forEach(Pages::touch);
  }

  @Override
  public boolean isSettled() {
    return pool.count() <= buffers.size();
  }

  @Override
  public Held held() {
    return new Held(buffers.size(), (long) buffers.size() * bytes).with("pool_bytes", pool.bytes());
  }
}
