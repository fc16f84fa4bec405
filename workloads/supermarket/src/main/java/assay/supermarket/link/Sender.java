package assay.supermarket.link;

import assay.supermarket.message.Message;
import assay.supermarket.message.MessageException;
import assay.supermarket.message.MessageType;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Sends messages, and repeats them until an answer comes or patience ends. With the {@link
 * Repetitions} at the other end a message takes effect at most once, and once if it was answered.
 */
final class Sender implements Link, AutoCloseable {
  /**
   * Messages to one group that wait for their answers: fewer than {@link Repetitions} remembers.
   */
  private static final int WAITING_MAX = Repetitions.WINDOW / 2;

  private final class Lane {
    private final Counters.OfGroup counts;
    private final TreeMap<Long, Waiting<?>> waiting = new TreeMap<>();
    private long last;

    Lane(String to) {
      this.counts = counters.of(to);
    }

    /** Gives the message its number and what is settled before it; false if the lane is full. */
    synchronized boolean enter(Waiting<?> message) {
      long oldest = waiting.isEmpty() ? last + 1 : waiting.firstKey();
      if (last + 1 - oldest >= WAITING_MAX) {
        return false;
      }
      message.sequence = ++last;
      message.floor = oldest;
      waiting.put(last, message);
      return true;
    }

    synchronized boolean leave(Waiting<?> message) {
      return waiting.remove(message.sequence) != null;
    }

    synchronized int size() {
      return waiting.size();
    }

    synchronized List<Waiting<?>> all() {
      return List.copyOf(waiting.values());
    }
  }

  /** A message without its answer yet. */
  private static final class Waiting<R extends Message> {
    final Class<R> reply;
    final CompletableFuture<R> answer = new CompletableFuture<>();
    final long sinceNs = System.nanoTime();
    long sequence;
    long floor;
    Envelope envelope;
    byte[] bytes;

    Waiting(Class<R> reply) {
      this.reply = reply;
    }

    void complete(Message message) {
      if (reply.isInstance(message)) {
        answer.complete(reply.cast(message));
      } else if (message instanceof Refusal refusal) {
        answer.completeExceptionally(new LinkException(refusal.reason()));
      } else {
        String type = message.getClass().getSimpleName();
        answer.completeExceptionally(
            new LinkException(envelope.to() + " answered " + envelope.type() + " by " + type));
      }
    }
  }

  private final String group;
  private final long life;
  private final EnvelopeCodec codec;
  private final Transport transport;
  private final Patience patience;
  private final Executor answers;
  private final Counters counters;
  private final Map<String, Lane> lanes = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * @param life another number with each start of the group
   * @param answers where answers are read and handed on
   */
  Sender(
      String group,
      long life,
      EnvelopeCodec codec,
      Transport transport,
      Patience patience,
      Executor answers,
      Counters counters) {
    this.group = group;
    this.life = life;
    this.codec = codec;
    this.transport = transport;
    this.patience = patience;
    this.answers = answers;
    this.counters = counters;
  }

  @Override
  public <R extends Message> CompletionStage<R> send(AgentId to, Message message, Class<R> reply) {
    Lane lane = lanes.computeIfAbsent(to.group(), Lane::new);
    Waiting<R> waiting = new Waiting<>(reply);
    if (!lane.enter(waiting)) {
      return CompletableFuture.failedFuture(
          new LinkException(to + ": " + WAITING_MAX + " messages wait for answers"));
    }
    try {
      MessageType type = codec.typeOf(message);
      waiting.envelope =
          new Envelope(
              Envelope.Kind.MESSAGE,
              group,
              life,
              waiting.sequence,
              waiting.floor,
              to,
              type.name(),
              type.form().bits());
      waiting.bytes = codec.encode(waiting.envelope, message);
    } catch (MessageException e) {
      lane.leave(waiting);
      return CompletableFuture.failedFuture(e);
    }
    lane.counts.sent.increment();
    attempt(lane, waiting, 1);
    return waiting.answer;
  }

  private void attempt(Lane lane, Waiting<?> waiting, int attempts) {
    CompletionStage<byte[]> carried;
    try {
      carried = transport.exchange(waiting.envelope.to().group(), waiting.bytes);
    } catch (RuntimeException e) {
      settle(lane, waiting, new LinkException(waiting.envelope.to() + ": no way to it", e));
      return;
    }
    carried.whenCompleteAsync(
        (bytes, failure) -> {
          if (failure == null) {
            came(lane, waiting, bytes, attempts);
          } else {
            again(lane, waiting, failure, attempts);
          }
        },
        answers);
  }

  private void came(Lane lane, Waiting<?> waiting, byte[] bytes, int attempts) {
    Message answer;
    try {
      EnvelopeCodec.Sent sent = codec.open(bytes);
      if (!sent.envelope().answers(waiting.envelope)) {
        throw new MessageException("the answer to another message");
      }
      answer = codec.read(sent);
    } catch (MessageException e) {
      again(lane, waiting, e, attempts);
      return;
    }
    lane.counts.answered.increment();
    if (lane.leave(waiting)) {
      waiting.complete(answer);
    }
  }

  private void again(Lane lane, Waiting<?> waiting, Throwable why, int attempts) {
    long waitNs = patience.waitNs(attempts);
    if (System.nanoTime() - waiting.sinceNs + waitNs > patience.total().toNanos() || closed) {
      settle(lane, waiting, new LinkException("no answer from " + waiting.envelope.to(), why));
      return;
    }
    CompletableFuture.delayedExecutor(waitNs, TimeUnit.NANOSECONDS, answers)
        .execute(
            () -> {
              if (!waiting.answer.isDone()) {
                lane.counts.repeated.increment();
                attempt(lane, waiting, attempts + 1);
              }
            });
  }

  private static void settle(Lane lane, Waiting<?> waiting, LinkException why) {
    if (lane.leave(waiting)) {
      lane.counts.abandoned.increment();
      waiting.answer.completeExceptionally(why);
    }
  }

  /** Messages that wait for their answers. */
  int waiting() {
    return lanes.values().stream().mapToInt(Lane::size).sum();
  }

  /** What waits is abandoned. */
  @Override
  public void close() {
    closed = true;
    LinkException why = new LinkException("group " + group + " is closed");
    for (Lane lane : lanes.values()) {
      lane.all().forEach(waiting -> settle(lane, waiting, why));
    }
  }
}
