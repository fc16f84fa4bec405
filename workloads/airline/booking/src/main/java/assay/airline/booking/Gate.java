package assay.airline.booking;

import assay.airline.Refused;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets bookings pass side by side and refuses new ones while an audit compares the services, so
 * that an audit is exact under load too. It opens by itself after a time: whoever closed it may
 * have been killed.
 */
@Singleton
public class Gate {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private int inside;
  private long closedUntilNs = System.nanoTime();

  /** Work that changes bookings. */
  public interface Work<T, E extends Exception> {
    T run() throws E;
  }

  public <T, E extends Exception> T through(Work<T, E> work) throws E {
    enter();
    try {
      return work.run();
    } finally {
      leave();
    }
  }

  /** Closes the gate for so long, and waits until nobody is inside; says whether that is so. */
  public boolean close(Duration length) throws InterruptedException {
    lock.lock();
    try {
      long begun = System.nanoTime();
      closedUntilNs = begun + length.toNanos();
      long left = length.toNanos();
      while (inside > 0 && left > 0) {
        left = changed.awaitNanos(left);
      }
      return inside == 0;
    } finally {
      lock.unlock();
    }
  }

  public void open() {
    lock.lock();
    try {
      closedUntilNs = System.nanoTime();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whoever waited here would hold a thread of the server, which has few, and the audit needs one.
   */
  private void enter() {
    lock.lock();
    try {
      if (closedUntilNs - System.nanoTime() > 0) {
        throw new Refused(Refused.Reason.BUSY, "an audit is under way");
      }
      inside++;
    } finally {
      lock.unlock();
    }
  }

  private void leave() {
    lock.lock();
    try {
      inside--;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
