package assay.probes.threads;

import assay.probes.Held;
import assay.probes.Holding;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Threads that have done nothing but start, and wait, as those of an idle pool do. */
public final class WaitingThreads implements Holding {
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean released;

  @Override
  public void grow(int count) {
    released = false;
    CountDownLatch started = new CountDownLatch(count);
    for (int i = 0; i < count; i++) {
      Thread thread = new Thread(() -> startAndWait(started), "probe-" + threads.size());
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    try {
      started.await();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private void startAndWait(CountDownLatch started) {
    started.countDown();
    while (!released) {
      LockSupport.park(this);
    }
  }

  @Override
  public void release() {
    released = true;
    threads.forEach(LockSupport::unpark);
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
    threads.clear();
  }

  @Override
  public Held held() {
    return new Held(threads.size(), 0);
  }

  private static IllegalStateException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new IllegalStateException("interrupted", cause);
  }
}
