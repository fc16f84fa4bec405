package assay.probes.malloc;

import assay.probes.Held;
import assay.probes.Holding;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that each allocated blocks from their malloc arena and freed them again, but for a small
 * one above them. The threads stay, so that no other takes their arenas over. {@code bytes} were
 * freed and stay resident.
 */
public final class FreedArenas implements Holding {
  /** Smaller blocks would go to the thread's own cache. */
  private static final int BYTES_MIN = 2048;

  private final NativeLibrary library;
  private final int blocks;
  private final int bytes;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicLong freedBytes = new AtomicLong();
  private CountDownLatch released = new CountDownLatch(1);
  private int started;

  public FreedArenas(NativeLibrary library, int blocks, int bytes) {
    if (bytes < BYTES_MIN) {
      throw new IllegalArgumentException("blocks of arenas have at least " + BYTES_MIN + " bytes");
    }
    this.library = library;
    this.blocks = blocks;
    this.bytes = bytes;
  }

  /** One thread after the other, so that two that share an arena cannot mix their blocks. */
  @Override
  public void grow(int count) {
    for (int i = 0; i < count; i++) {
      CountDownLatch freed = new CountDownLatch(1);
      CountDownLatch end = released;
      Thread thread =
          new Thread(
              () -> {
                freedBytes.addAndGet(library.fillAndFree(blocks, bytes));
                freed.countDown();
                await(end);
              },
              "probe-" + started++);
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
      await(freed);
    }
  }

  /** The small blocks go, and with them what they held back; the threads end. */
  @Override
  public void release() {
    library.freeAll();
    released.countDown();
    threads.clear();
    freedBytes.set(0);
    released = new CountDownLatch(1);
  }

  @Override
  public Held held() {
    return new Held(threads.size(), freedBytes.get())
        .with("asked_bytes", (long) threads.size() * blocks * bytes);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
