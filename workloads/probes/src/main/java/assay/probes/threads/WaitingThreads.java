package assay.probes.threads;

import assay.probes.Held;
import assay.probes.Holding;
import java.util.concurrent.CountDownLatch;

/** Threads that have done nothing but start, and wait, as those of an idle pool do. */
public final class WaitingThreads implements Holding {
  private final ProbeThreads threads = new ProbeThreads();
  private CountDownLatch released = new CountDownLatch(1);

  @Override
  public void grow(int count) {
    CountDownLatch started = new CountDownLatch(count);
    CountDownLatch end = released;
    for (int i = 0; i < count; i++) {
      threads.start(
          () -> {
            started.countDown();
            ProbeThreads.await(end);
          },
          0);
    }
    ProbeThreads.await(started);
  }

  @Override
  public void release() {
    released.countDown();
    threads.join();
    released = new CountDownLatch(1);
  }

  @Override
  public Held held() {
    return new Held(threads.count(), 0);
  }
}
