package assay.supermarket;

import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.Delivery;
import assay.supermarket.message.Message;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/** Delivers the first delivery of each supplier to each supermarket twice, under two numbers. */
final class Spoiler implements Link {
  private final Link working;
  private final AtomicInteger doubled;
  private final Map<String, Long> shift = new HashMap<>();

  Spoiler(Link working, AtomicInteger doubled) {
    this.working = working;
    this.doubled = doubled;
  }

  @Override
  public <R extends Message> CompletionStage<R> send(AgentId to, Message message, Class<R> reply) {
    if (!(message instanceof Delivery delivery)) {
      return working.send(to, message, reply);
    }
    long by = shifted(delivery.sender() + to);
    long size = delivery.lines().size();
    Delivery later =
        new Delivery(
            delivery.sender(),
            delivery.sequence() + by,
            delivery.orderSequence(),
            delivery.lines());
    CompletionStage<R> sent = working.send(to, later, reply);
    if (by == 0) {
      doubled.incrementAndGet();
      shift(delivery.sender() + to, size);
      Delivery again =
          new Delivery(
              delivery.sender(),
              delivery.sequence() + size,
              delivery.orderSequence(),
              delivery.lines());
      sent = sent.thenCompose(first -> working.send(to, again, reply));
    }
    return sent.thenApply(any -> reply.cast(new Acknowledgement(delivery.sequence() + size - 1)));
  }

  private synchronized long shifted(String path) {
    return shift.getOrDefault(path, 0L);
  }

  private synchronized void shift(String path, long by) {
    shift.put(path, by);
  }
}
