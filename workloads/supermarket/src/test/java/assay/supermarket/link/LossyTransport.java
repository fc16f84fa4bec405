package assay.supermarket.link;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A network between groups of one process. Of the messages it loses some, and some of the answers;
 * it brings some twice, and damages some; all take a random time, so that they overtake each other.
 */
final class LossyTransport implements Transport {
  private static final int DELAY_US_MAX = 3000;

  private final Map<String, Function<byte[], CompletionStage<byte[]>>> doors =
      new ConcurrentHashMap<>();
  private final SplittableRandom random;

  LossyTransport(long seed) {
    this.random = new SplittableRandom(seed);
  }

  void connect(String group, Function<byte[], CompletionStage<byte[]>> door) {
    doors.put(group, door);
  }

  void disconnect(String group) {
    doors.remove(group);
  }

  private synchronized int draw(int bound) {
    return random.nextInt(bound);
  }

  @Override
  public CompletionStage<byte[]> exchange(String group, byte[] envelope) {
    return switch (draw(10)) {
      case 0 -> lost("message");
      case 1 -> bring(group, envelope).thenCompose(answer -> lost("answer"));
      case 2 -> bring(group, envelope).thenCombine(bring(group, envelope), (one, other) -> other);
      case 3 -> {
        byte[] damaged = envelope.clone();
        damaged[draw(damaged.length)] ^= (byte) (1 << draw(8));
        yield bring(group, damaged).thenCompose(answer -> lost("answer to a damaged message"));
      }
      case 4 -> bring(group, envelope).thenApply(answer -> Arrays.copyOf(answer, 20));
      default -> bring(group, envelope);
    };
  }

  private CompletionStage<byte[]> bring(String group, byte[] envelope) {
    return CompletableFuture.supplyAsync(() -> envelope, later())
        .thenCompose(
            bytes -> {
              var door = doors.get(group);
              return door == null ? lost("group") : door.apply(bytes);
            })
        .thenComposeAsync(CompletableFuture::completedFuture, later());
  }

  private Executor later() {
    return CompletableFuture.delayedExecutor(draw(DELAY_US_MAX), TimeUnit.MICROSECONDS);
  }

  private static CompletionStage<byte[]> lost(String what) {
    return CompletableFuture.failedFuture(new IOException(what + " lost"));
  }
}
