package assay.supermarket.post;

import assay.supermarket.link.Agent;
import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Account;
import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.AgentBooks;
import assay.supermarket.message.Message;
import assay.supermarket.message.Numbered;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * An agent with books, as the office of its group sees it: numbered messages that it takes have one
 * effect, and what it sends is kept until it is answered. One lock guards its data and its inbox.
 */
public abstract class Bookkeeper implements Agent {
  private final AgentId id;
  private final Link link;
  private final Executor post;
  private final ReentrantLock lock = new ReentrantLock();
  private final Inbox inbox = new Inbox();

  /**
   * @param post where answers are taken
   */
  protected Bookkeeper(AgentId id, Link link, Executor post) {
    this.id = id;
    this.link = link;
    this.post = post;
  }

  @Override
  public final AgentId id() {
    return id;
  }

  /** All that it sends goes through these. */
  protected abstract Collection<? extends Outbox<?>> outboxes();

  /** Its data goes back to the snapshot, its mail does not. Called with the lock held. */
  protected abstract void restoreData();

  /** The accounts of its data. Called with the lock held. */
  protected abstract void book(List<Account> accounts);

  /** Does it while nobody else changes the agent's data. */
  protected final <T> T alone(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  /** How many things of a message have had their effect. Call it {@link #alone}. */
  protected final int repeated(Numbered message, List<?> things) {
    return inbox.repeated(message.sender(), message.sequence(), things.size());
  }

  /** Notes that all things of a message have had their effect. Call it {@link #alone}. */
  protected final void took(Numbered message, List<?> things) {
    inbox.took(message.sender(), things.size() - repeated(message, things));
  }

  /** Each thing of the message that is new has its effect, in order; a repetition has none. */
  protected final <T> Acknowledgement take(
      Numbered message, List<T> things, Consumer<? super T> effect) {
    return alone(
        () -> {
          things.subList(repeated(message, things), things.size()).forEach(effect);
          took(message, things);
          return new Acknowledgement(message.sequence() + things.size() - 1);
        });
  }

  /** An outbox for what nobody waits for: the receiver acknowledges it. */
  protected final <T> Outbox<T> gathered(AgentId to, int most, Outbox.Packing<T> packing) {
    return outbox(
        to, Outbox.Pace.gathered(most), packing, Acknowledgement.class, this::acknowledged);
  }

  /** An outbox whose answers the agent takes itself. */
  protected final <T, R extends Message> Outbox<T> outbox(
      AgentId to,
      Outbox.Pace pace,
      Outbox.Packing<T> packing,
      Class<R> answerType,
      Outbox.OnAnswer<R> onAnswer) {
    return new Outbox<>(to, pace, packing, answerType, onAnswer, link, post);
  }

  private void acknowledged(Outbox<?> outbox, long through, Acknowledgement answer) {
    if (answer.sequence() != through) {
      throw new IllegalStateException("answer " + answer.sequence() + " to " + through);
    }
    lock.lock();
    try {
      outbox.settle(through);
    } finally {
      lock.unlock();
    }
  }

  /** Begins to send. */
  public final void start() {
    outboxes().forEach(Outbox::start);
  }

  /** Sends nothing any more. */
  public final void stop() {
    outboxes().forEach(Outbox::stop);
  }

  /** Things that it sent and that are not answered. */
  public final long pending() {
    return outboxes().stream().mapToLong(Outbox::pending).sum();
  }

  /** Things of numbered messages that took effect. */
  public final long effects() {
    return alone(inbox::effects);
  }

  /** The data goes back to the snapshot. Nothing must be under way. */
  public final void restore() {
    lock.lock();
    try {
      restoreData();
    } finally {
      lock.unlock();
    }
  }

  public final AgentBooks books() {
    List<Account> accounts = new ArrayList<>();
    lock.lock();
    try {
      book(accounts);
      inbox.book(accounts);
      outboxes().forEach(outbox -> outbox.book(accounts));
    } finally {
      lock.unlock();
    }
    return new AgentBooks(id.toString(), accounts);
  }
}
