package assay.supermarket.link;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * When a message is repeated and when it is abandoned.
 *
 * @param first wait before the first repetition; each further wait is twice as long
 * @param longest no wait is longer
 * @param total after which the sender is told that there is no answer
 */
public record Patience(Duration first, Duration longest, Duration total) {
  /** For groups on one host or a few: a restart of a group is waited for. */
  public static final Patience STANDARD =
      new Patience(Duration.ofMillis(200), Duration.ofSeconds(2), Duration.ofSeconds(30));

  public Patience {
    if (first.isNegative() || first.isZero() || longest.compareTo(first) < 0) {
      throw new IllegalArgumentException("waits from " + first + " to " + longest);
    }
  }

  /** The wait after so many attempts, up to a quarter shorter, so that senders fall out of step. */
  long waitNs(int attempts) {
    long waitNs = first.toNanos();
    for (int i = 1; i < attempts && waitNs < longest.toNanos(); i++) {
      waitNs = Math.min(longest.toNanos(), 2 * waitNs);
    }
    return waitNs - ThreadLocalRandom.current().nextLong(waitNs / 4 + 1);
  }
}
