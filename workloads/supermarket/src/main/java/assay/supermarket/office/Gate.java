package assay.supermarket.office;

import assay.supermarket.model.Refusal;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Lets requests pass side by side and holds new ones back while an audit reads. What is held back
 * begins when the hold ends: by {@link #resume}, or by itself, so that an auditor that dies stops
 * nobody.
 */
public final class Gate {
  private static final int HELD_BACK_MAX = 10_000;

  private final Executor executor;
  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<Runnable> heldBack = new ArrayDeque<>();
  private boolean held;
  private long holdNumber;
  private long underWay;

  public Gate(Executor executor) {
    this.executor = executor;
  }

  /** Begins the business now, or when the gate opens. */
  public <T> CompletionStage<T> through(Supplier<CompletionStage<T>> business) {
    CompletableFuture<T> later;
    lock.lock();
    try {
      if (!held) {
        underWay++;
        later = null;
      } else if (heldBack.size() >= HELD_BACK_MAX) {
        throw new Refusal(Refusal.Reason.OVERLOADED, "too many requests wait for an audit to end");
      } else {
        CompletableFuture<T> waiting = new CompletableFuture<>();
        heldBack.add(
            () -> begin(business).whenComplete((done, failure) -> hand(waiting, done, failure)));
        later = waiting;
      }
    } finally {
      lock.unlock();
    }
    return later == null ? begin(business) : later;
  }

  /** The business must have been counted as under way. */
  private <T> CompletionStage<T> begin(Supplier<CompletionStage<T>> business) {
    CompletionStage<T> begun;
    try {
      begun = business.get();
    } catch (RuntimeException e) {
      begun = CompletableFuture.failedFuture(e);
    }
    return begun.whenComplete((done, failure) -> ended());
  }

  private static <T> void hand(CompletableFuture<T> to, T done, Throwable failure) {
    if (failure == null) {
      to.complete(done);
    } else {
      to.completeExceptionally(failure);
    }
  }

  private void ended() {
    lock.lock();
    try {
      underWay--;
    } finally {
      lock.unlock();
    }
  }

  /** Holds new business back. Returns the hold's number; a hold that was there is replaced. */
  public long hold(long forMs) {
    long number;
    lock.lock();
    try {
      held = true;
      number = ++holdNumber;
    } finally {
      lock.unlock();
    }
    CompletableFuture.delayedExecutor(forMs, TimeUnit.MILLISECONDS, executor)
        .execute(() -> resume(number));
    return number;
  }

  /** Ends this hold, if it is still there. */
  public void resume(long number) {
    Deque<Runnable> begun = new ArrayDeque<>();
    lock.lock();
    try {
      if (!held || number != holdNumber) {
        return;
      }
      held = false;
      begun.addAll(heldBack);
      heldBack.clear();
      underWay += begun.size();
    } finally {
      lock.unlock();
    }
    begun.forEach(executor::execute);
  }

  /** Whether this hold is still there. */
  public boolean isHeld(long number) {
    lock.lock();
    try {
      return held && number == holdNumber;
    } finally {
      lock.unlock();
    }
  }

  /** Requests that have begun and not ended. */
  public long underWay() {
    lock.lock();
    try {
      return underWay;
    } finally {
      lock.unlock();
    }
  }
}
