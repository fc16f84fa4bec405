package assay.brokerage.audit;

import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * Lets trades pass side by side and holds new ones back while an audit reads, so that an audit is
 * exact under load too. Completing an order that is already open does not pass the gate: the audit
 * waits for those.
 */
@Singleton
public class TradingGate {
  /** Fair, so that a stream of trades cannot starve an audit. */
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);

  public <T> T through(Supplier<T> trade) {
    lock.readLock().lock();
    try {
      return trade.get();
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Something that is done while no new trade begins. */
  public interface Quiet<T, E extends Exception> {
    T get() throws E;
  }

  public <T, E extends Exception> T closed(Duration wait, Quiet<T, E> work)
      throws E, InterruptedException, TimeoutException {
    if (!lock.writeLock().tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new TimeoutException("trades did not pause within " + wait);
    }
    try {
      return work.get();
    } finally {
      lock.writeLock().unlock();
    }
  }
}
