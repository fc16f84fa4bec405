package assay.brokerage.market;

import assay.brokerage.quote.QuoteChange;
import jakarta.inject.Singleton;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The last few quote changes, newest first. */
@Singleton
public class Ticker {
  private static final int CHANGES_MAX = 10;

  private final Deque<QuoteChange> changes = new ArrayDeque<>(CHANGES_MAX + 1);

  synchronized void add(QuoteChange change) {
    changes.addFirst(change);
    if (changes.size() > CHANGES_MAX) {
      changes.removeLast();
    }
  }

  public synchronized List<QuoteChange> recent() {
    return List.copyOf(changes);
  }
}
