package assay.supermarket.post;

import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Account;
import assay.supermarket.message.Message;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What an agent has to tell another one, in order; each thing is sent until it is answered. Things
 * are numbered from 1 on. One message is under way at a time, with all that waits up to a bound:
 * the higher the load, the fuller the messages.
 */
public final class Outbox<T> {
  private static final long RETRY_MS_MIN = 20;
  private static final long RETRY_MS_MAX = 1_000;

  /** Makes a message of things of which the first has this number. */
  public interface Packing<T> {
    Message pack(long first, List<T> things);
  }

  /** What the agent does with an answer; it calls {@link #settle} before it returns. */
  public interface OnAnswer<R> {
    void answered(long through, R answer);
  }

  private final AgentId to;
  private final int batchMax;
  private final Packing<T> packing;
  private final Transport transport;
  private final Executor executor;
  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<T> waiting = new ArrayDeque<>();
  private long settled;
  private boolean started;
  private boolean underWay;
  private long retryMs = RETRY_MS_MIN;
  private long repeated;

  /** Sends, and hands the answer to the agent. */
  private interface Transport {
    CompletionStage<Void> send(Message message, long through);
  }

  public <R extends Message> Outbox(
      AgentId to,
      int batchMax,
      Packing<T> packing,
      Class<R> answerType,
      OnAnswer<R> onAnswer,
      Link link,
      Executor executor) {
    this.to = to;
    this.batchMax = batchMax;
    this.packing = packing;
    this.executor = executor;
    this.transport =
        (message, through) ->
            link.send(to, message, answerType)
                .thenAccept(answer -> onAnswer.answered(through, answer));
  }

  /** Appends a thing; {@link #pump} sends it. Returns its number. */
  public long add(T thing) {
    lock.lock();
    try {
      waiting.add(thing);
      return settled + waiting.size();
    } finally {
      lock.unlock();
    }
  }

  /** Drops what was answered. */
  public void settle(long through) {
    lock.lock();
    try {
      if (through > settled + waiting.size()) {
        throw new IllegalStateException(
            to + " answered number " + through + ", which was not sent");
      }
      while (settled < through) {
        waiting.remove();
        settled++;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Begins to send; before, things only collect. */
  public void start() {
    lock.lock();
    try {
      started = true;
    } finally {
      lock.unlock();
    }
    pump();
  }

  /** Sends nothing any more. */
  public void stop() {
    lock.lock();
    try {
      started = false;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sends what waits, unless a message is under way already. Not to be called with the agent's lock
   * held.
   */
  public void pump() {
    List<T> batch;
    long first;
    lock.lock();
    try {
      if (!started || underWay || waiting.isEmpty()) {
        return;
      }
      underWay = true;
      first = settled + 1;
      batch = new ArrayList<>(Math.min(batchMax, waiting.size()));
      for (T thing : waiting) {
        if (batch.size() == batchMax) {
          break;
        }
        batch.add(thing);
      }
    } finally {
      lock.unlock();
    }
    long through = first + batch.size() - 1;
    CompletionStage<Void> sent;
    try {
      sent = transport.send(packing.pack(first, batch), through);
    } catch (RuntimeException e) {
      sent = CompletableFuture.failedFuture(e);
    }
    var unused = sent.whenComplete((nothing, failure) -> ended(failure));
  }

  private void ended(Throwable failure) {
    long waitMs = 0;
    lock.lock();
    try {
      if (failure == null) {
        underWay = false;
        retryMs = RETRY_MS_MIN;
      } else {
        repeated++;
        waitMs = retryMs;
        retryMs = Math.min(RETRY_MS_MAX, retryMs * 2);
      }
    } finally {
      lock.unlock();
    }
    if (failure == null) {
      // On a new task, because a link that answers at once would call itself ever deeper.
      executor.execute(this::pump);
    } else {
      CompletableFuture.delayedExecutor(waitMs, TimeUnit.MILLISECONDS, executor)
          .execute(this::again);
    }
  }

  private void again() {
    lock.lock();
    try {
      underWay = false;
    } finally {
      lock.unlock();
    }
    pump();
  }

  /** Things not answered yet. */
  public int pending() {
    lock.lock();
    try {
      return waiting.size();
    } finally {
      lock.unlock();
    }
  }

  public void book(List<Account> accounts) {
    lock.lock();
    try {
      accounts.add(new Account("mail.sent/" + to, settled + waiting.size()));
      accounts.add(new Account("mail.answered/" + to, settled));
      accounts.add(new Account("mail.repeated/" + to, repeated));
    } finally {
      lock.unlock();
    }
  }
}
