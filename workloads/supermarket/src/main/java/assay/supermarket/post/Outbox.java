package assay.supermarket.post;

import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Account;
import assay.supermarket.message.Message;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What an agent has to tell another one, in order; each thing is sent until it is answered. Things
 * are numbered from 1 on. One message is under way at a time, with all that waits up to a bound.
 */
public final class Outbox<T> {
  private static final long RETRY_MS_MIN = 20;
  private static final long RETRY_MS_MAX = 1_000;

  /**
   * When the next message goes, once the last one is answered.
   *
   * @param most things in a message
   * @param gapNs from one message to the next, unless the next one is full
   */
  public record Pace(int most, long gapNs) {
    /** For what somebody waits for. */
    public static Pace atOnce(int most) {
      return new Pace(most, 0);
    }

    /**
     * For what nobody waits for: gathered for a moment. Sent at once, messages would be nearly
     * empty at low load: the company took 1.25 to 1.46 times the CPU time for 2,000 requests a
     * second, 1.1 to 1.24 times for 5,000 (four pairs side by side), so that its response times
     * hardly rose with the load until shortly before the maximum.
     */
    public static Pace gathered(int most) {
      return new Pace(most, TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  /** Makes a message of things of which the first has this number. */
  public interface Packing<T> {
    Message pack(long first, List<T> things);
  }

  /** What the agent does with an answer; it calls {@link #settle} before it returns. */
  public interface OnAnswer<R> {
    void answered(Outbox<?> outbox, long through, R answer);
  }

  private final AgentId to;
  private final Pace pace;
  private final Packing<T> packing;
  private final Transport transport;
  private final Executor executor;
  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<T> waiting = new ArrayDeque<>();
  private long settled;
  private boolean started;
  private boolean underWay;
  private boolean alarmSet;
  private long sentAtNs;
  private long retryMs = RETRY_MS_MIN;
  private long repeated;

  /** Sends, and hands the answer to the agent. */
  private interface Transport {
    CompletionStage<Void> send(Message message, long through);
  }

  public <R extends Message> Outbox(
      AgentId to,
      Pace pace,
      Packing<T> packing,
      Class<R> answerType,
      OnAnswer<R> onAnswer,
      Link link,
      Executor executor) {
    this.to = to;
    this.pace = pace;
    this.sentAtNs = System.nanoTime() - pace.gapNs();
    this.packing = packing;
    this.executor = executor;
    this.transport =
        (message, through) ->
            link.send(to, message, answerType)
                .thenAccept(answer -> onAnswer.answered(this, through, answer));
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
   * Sends what waits, unless a message is under way already or it is too early. Not to be called
   * with the agent's lock held.
   */
  public void pump() {
    List<T> batch;
    long first;
    lock.lock();
    try {
      if (!started || underWay || waiting.isEmpty() || isTooEarly()) {
        return;
      }
      underWay = true;
      sentAtNs = System.nanoTime();
      first = settled + 1;
      batch = waiting.stream().limit(pace.most()).toList();
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

  /** If so, sees to it that it is tried again in time. */
  private boolean isTooEarly() {
    long leftNs = sentAtNs + pace.gapNs() - System.nanoTime();
    if (leftNs <= 0 || waiting.size() >= pace.most()) {
      return false;
    }
    if (!alarmSet) {
      alarmSet = true;
      CompletableFuture.delayedExecutor(leftNs, TimeUnit.NANOSECONDS, executor)
          .execute(this::alarm);
    }
    return true;
  }

  private void alarm() {
    lock.lock();
    try {
      alarmSet = false;
    } finally {
      lock.unlock();
    }
    pump();
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
