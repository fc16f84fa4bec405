package assay.supermarket.post;

import assay.supermarket.link.AgentId;
import assay.supermarket.message.AgentBooks;
import java.util.Collection;

/** An agent as the office of its group sees it. */
public interface Bookkeeper {
  AgentId id();

  /** All that it sends goes through these. */
  Collection<? extends Outbox<?>> outboxes();

  /** Begins to send. */
  default void start() {
    outboxes().forEach(Outbox::start);
  }

  /** Sends nothing any more. */
  default void stop() {
    outboxes().forEach(Outbox::stop);
  }

  /** Things that it sent and that are not answered. */
  default long pending() {
    return outboxes().stream().mapToLong(Outbox::pending).sum();
  }

  /** Numbered messages that took effect. */
  long effects();

  /** The data goes back to the snapshot. Nothing must be under way. */
  void restore();

  AgentBooks books();
}
