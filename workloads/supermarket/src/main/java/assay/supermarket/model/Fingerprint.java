package assay.supermarket.model;

/**
 * Proves that two sides hold the same quantities of the same things without naming each: the sum of
 * quantity x weight over all things, modulo 2^64, where the weights look random. Equal fingerprints
 * of different quantities are as unlikely as 2^-64 for data that was not made to deceive. Sums of
 * fingerprints are fingerprints of sums.
 */
public final class Fingerprint {
  private Fingerprint() {}

  /**
   * The weight of a thing: SplitMix64's finalizer, made odd so that a single unit always counts.
   */
  public static long weight(long thing) {
    long mixed = thing + 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return (mixed ^ (mixed >>> 31)) | 1;
  }

  /** The share of one receipt in the fingerprint of a supermarket's receipts. */
  public static long ofReceipt(long number, long totalCents) {
    return weight(number * 31 + weight(totalCents));
  }
}
