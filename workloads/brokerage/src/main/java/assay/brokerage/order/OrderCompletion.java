package assay.brokerage.order;

import assay.brokerage.quote.QuoteChange;
import assay.brokerage.quote.QuoteTopic;
import assay.brokerage.stats.Counters;
import assay.brokerage.stats.Counters.Event;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;

/**
 * Completes open orders outside the request that opened them. The hand-over (a message, a task) is
 * only a hint: the truth is the order's row, which says OPEN until the transaction that completes
 * it. A hand-over that is repeated does nothing; one that a killed server lost is made good by
 * {@link #recover} at the next start.
 */
@Singleton
public class OrderCompletion {
  private static final Logger LOG = System.getLogger(OrderCompletion.class.getName());

  /** Orders waiting for a managed thread; beyond it the request completes its order itself. */
  private static final int WAITING_MAX = 1000;

  private static final int ATTEMPTS_MAX = 5;

  private final OrderBook book;
  private final OrderQueue queue;
  private final ManagedThreads threads;
  private final QuoteTopic topic;
  private final Counters counters;
  private final OrderMode mode;
  private final Semaphore waiting = new Semaphore(WAITING_MAX);

  @Inject
  public OrderCompletion(
      OrderBook book,
      OrderQueue queue,
      ManagedThreads threads,
      QuoteTopic topic,
      Counters counters,
      OrderMode mode) {
    this.book = book;
    this.queue = queue;
    this.threads = threads;
    this.topic = topic;
    this.counters = counters;
    this.mode = mode;
  }

  /** Hands the order over; completes it at once when the way is blocked. */
  void later(long orderId) {
    boolean handedOver = mode == OrderMode.QUEUE ? queue.send(orderId) : onThread(orderId);
    if (!handedOver) {
      counters.count(Event.HAND_OVER_REFUSED);
      now(orderId);
    }
  }

  /** Completes the order unless that is done; tells the topic after the commit. */
  void now(long orderId) {
    Optional<QuoteChange> change = book.complete(orderId);
    if (change.isPresent()) {
      counters.count(Event.ORDER_COMPLETED);
      topic.publish(change.get());
    }
  }

  /** Completes what a stopped server left open. */
  public void recover() {
    for (long orderId : book.open()) {
      now(orderId);
      counters.count(Event.ORDER_RECOVERED);
    }
  }

  private boolean onThread(long orderId) {
    if (!waiting.tryAcquire()) {
      return false;
    }
    try {
      threads.execute(() -> completeOnThread(orderId));
      return true;
    } catch (RejectedExecutionException e) {
      waiting.release();
      return false;
    }
  }

  private void completeOnThread(long orderId) {
    try {
      for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        if (attempted(orderId, attempt)) {
          return;
        }
      }
    } finally {
      waiting.release();
    }
  }

  private boolean attempted(long orderId, int attempt) {
    try {
      now(orderId);
      return true;
    } catch (RuntimeException e) {
      counters.count(Event.COMPLETION_FAILED);
      LOG.log(Level.WARNING, "order " + orderId + " not completed, attempt " + attempt, e);
      return false;
    }
  }
}
