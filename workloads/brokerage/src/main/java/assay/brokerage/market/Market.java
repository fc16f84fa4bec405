package assay.brokerage.market;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/** Keeps a market summary for a while, since reading one goes over every quote. */
@Singleton
public class Market {
  private static final Duration FRESH = Duration.ofSeconds(20);

  private final MarketReader reader;
  private final Clock clock;
  private final AtomicReference<MarketSummary> latest = new AtomicReference<>();
  private final ReentrantLock reading = new ReentrantLock();

  @Inject
  public Market(MarketReader reader, Clock clock) {
    this.reader = reader;
    this.clock = clock;
  }

  /** At most {@link #FRESH} old, or a little older while another request reads the next one. */
  public MarketSummary summary() {
    MarketSummary seen = latest.get();
    if (seen == null) {
      reading.lock();
    } else if (isFresh(seen) || !reading.tryLock()) {
      return seen;
    }
    try {
      MarketSummary current = latest.get();
      if (current == null || !isFresh(current)) {
        current = reader.read();
        latest.set(current);
      }
      return current;
    } finally {
      reading.unlock();
    }
  }

  private boolean isFresh(MarketSummary summary) {
    return summary.at().plus(FRESH).isAfter(LocalDateTime.now(clock));
  }
}
