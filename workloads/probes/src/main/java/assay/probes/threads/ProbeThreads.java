package assay.probes.threads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Daemon threads of a probe, from their start to their end. */
final class ProbeThreads {
  private final List<Thread> threads = new ArrayList<>();
  private int started;

  /** Starts one; {@code stackBytes} of 0 is the JVM's own size. */
  void start(Runnable work, long stackBytes) {
    Thread thread = new Thread(null, work, "probe-" + started++, stackBytes);
    thread.setDaemon(true);
    thread.start();
    threads.add(thread);
  }

  int count() {
    return threads.size();
  }

  /** Waits until all have ended. */
  void join() {
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
    threads.clear();
  }

  static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static IllegalStateException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new IllegalStateException("interrupted", cause);
  }
}
