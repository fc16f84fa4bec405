package assay.probes.threads;

import assay.probes.Held;
import assay.probes.Holding;
import assay.probes.malloc.NativeLibrary;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that once wrote to so much of their stacks and now wait near its top. {@code bytes} runs
 * from the top of each stack to the lowest page that was written to.
 */
public final class TouchedStacks implements Holding {
  /** What the JVM's guard pages and the frames of a waiting thread need beside what is touched. */
  private static final long SPARE_BYTES = 512 << 10;

  private final NativeLibrary library;
  private final int bytes;
  private final ProbeThreads threads = new ProbeThreads();
  private final AtomicLong touchedBytes = new AtomicLong();
  private CountDownLatch released = new CountDownLatch(1);

  public TouchedStacks(NativeLibrary library, int bytes) {
    this.library = library;
    this.bytes = bytes;
  }

  @Override
  public void grow(int count) {
    CountDownLatch touched = new CountDownLatch(count);
    CountDownLatch end = released;
    for (int i = 0; i < count; i++) {
      threads.start(() -> touchAndWait(touched, end), bytes + SPARE_BYTES);
    }
    ProbeThreads.await(touched);
  }

  private void touchAndWait(CountDownLatch touched, CountDownLatch end) {
    touchedBytes.addAndGet(library.touchStack(bytes));
    touched.countDown();
    ProbeThreads.await(end);
  }

  @Override
  public void release() {
    released.countDown();
    threads.join();
    touchedBytes.set(0);
    released = new CountDownLatch(1);
  }

  @Override
  public Held held() {
    return new Held(threads.count(), touchedBytes.get())
        .with("asked_bytes", (long) threads.count() * bytes)
        .with("reserved_bytes", (long) threads.count() * (bytes + SPARE_BYTES));
  }
}
