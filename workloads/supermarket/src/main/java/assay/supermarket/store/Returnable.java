package assay.supermarket.store;

import assay.supermarket.message.Receipt;
import assay.supermarket.model.Fingerprint;
import java.util.Arrays;

/**
 * The latest receipts, of which goods may be brought back, once each. Guarded by the supermarket's
 * lock.
 */
final class Returnable {
  private final Receipt[] ring;
  private int next;

  Returnable(int capacity) {
    ring = new Receipt[capacity];
  }

  void add(Receipt receipt) {
    ring[next] = receipt;
    next = (next + 1) % ring.length;
  }

  /** Takes the receipt that the seed draws, or the nearest after it; null when there is none. */
  Receipt take(long seed) {
    int drawn = (int) ((Fingerprint.weight(seed) >>> 1) % ring.length);
    for (int i = 0; i < ring.length; i++) {
      int place = (drawn + i) % ring.length;
      Receipt receipt = ring[place];
      if (receipt != null) {
        ring[place] = null;
        return receipt;
      }
    }
    return null;
  }

  void clear() {
    Arrays.fill(ring, null);
    next = 0;
  }
}
