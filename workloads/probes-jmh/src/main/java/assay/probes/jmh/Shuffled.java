package assay.probes.jmh;

import java.util.SplittableRandom;

/**
 * The numbers from 0 on in an order that no prefetcher guesses; the same order in every JVM and
 * mode.
 */
final class Shuffled {
  private static final long SEED = 20081107;

  private Shuffled() {}

  static int[] numbers(int count) {
    int[] numbers = new int[count];
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < count; i++) {
      int j = random.nextInt(i + 1);
      numbers[i] = numbers[j];
      numbers[j] = i;
    }
    return numbers;
  }

  /** Positions are masked instead of divided, which needs a power of two. */
  static int mask(int count) {
    if (Integer.bitCount(count) != 1) {
      throw new IllegalArgumentException(count + " is no power of two");
    }
    return count - 1;
  }
}
