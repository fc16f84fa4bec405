package assay.supermarket.link;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Lets each message take effect once, however often it comes: a repetition gets the answer that the
 * first had or will have. What it must remember is bounded by what senders say is settled.
 *
 * <p>A group that is started anew has a new life and counts from 1 again. Lives have no order: one
 * by the clock would shut out a group whose clock was put back. What an earlier life sent and the
 * next one repeats, {@link assay.supermarket.message.Numbered} tells apart.
 */
final class Repetitions {
  /** Lives of groups that are remembered; of more, those heard from last. */
  static final int LIVES_MAX = 64;

  /** How far a message may be ahead of what its lane has settled. */
  static final int WINDOW = 1 << 18;

  private record Life(String group, long number) {}

  private static final class Lane {
    long floor;
    final Map<Long, CompletableFuture<byte[]>> answers = new HashMap<>();
  }

  private final Map<Life, Lane> lanes =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Life, Lane> eldest) {
          return size() > LIVES_MAX;
        }
      };
  private final Counters counters;

  Repetitions(Counters counters) {
    this.counters = counters;
  }

  /**
   * The answer to a message, from the work if it is new.
   *
   * @throws LinkException for a message that is settled or too far ahead; it has no effect (again),
   *     and its sender does not wait for it
   */
  CompletionStage<byte[]> once(Envelope envelope, Supplier<CompletionStage<byte[]>> work)
      throws LinkException {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    CompletableFuture<byte[]> earlier;
    synchronized (lanes) {
      earlier = enter(envelope, answer);
    }
    Counters.OfGroup counts = counters.of(envelope.from());
    if (earlier != null) {
      counts.duplicates.increment();
      return earlier;
    }
    counts.received.increment();
    work.get()
        .whenComplete(
            (bytes, failure) -> {
              if (failure == null) {
                answer.complete(bytes);
              } else {
                answer.completeExceptionally(failure);
              }
            });
    return answer;
  }

  /** Puts the message down; returns the earlier one's answer if it has come before. */
  private CompletableFuture<byte[]> enter(Envelope envelope, CompletableFuture<byte[]> answer)
      throws LinkException {
    Life life = new Life(envelope.from(), envelope.life());
    Lane lane = lanes.computeIfAbsent(life, first -> new Lane());
    if (envelope.floor() > lane.floor) {
      settle(lane, envelope.floor());
    }
    long sequence = envelope.sequence();
    if (sequence < lane.floor) {
      counters.of(envelope.from()).duplicates.increment();
      throw refused(envelope, "it is settled");
    }
    if (sequence - lane.floor >= WINDOW) {
      throw refused(envelope, "it is too far ahead of " + lane.floor);
    }
    return lane.answers.putIfAbsent(sequence, answer);
  }

  private static void settle(Lane lane, long floor) {
    if (floor - lane.floor <= lane.answers.size()) {
      for (long settled = lane.floor; settled < floor; settled++) {
        lane.answers.remove(settled);
      }
    } else {
      lane.answers.keySet().removeIf(sequence -> sequence < floor);
    }
    lane.floor = floor;
  }

  /** Answers that are remembered now, for tests. */
  int remembered() {
    synchronized (lanes) {
      return lanes.values().stream().mapToInt(lane -> lane.answers.size()).sum();
    }
  }

  private static LinkException refused(Envelope envelope, String why) {
    return new LinkException(
        "message %d from %s to %s: %s"
            .formatted(envelope.sequence(), envelope.from(), envelope.to(), why));
  }
}
