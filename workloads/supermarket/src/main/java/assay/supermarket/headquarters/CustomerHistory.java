package assay.supermarket.headquarters;

import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptLine;
import java.util.Arrays;

/**
 * What headquarters remembers of a customer: sums, so that it does not grow. Guarded by its lock.
 */
final class CustomerHistory {
  /** Categories are counted in so many classes. */
  static final int CLASSES = 20;

  private final int[] pieces = new int[CLASSES];
  private long receipts;
  private long totalCents;

  void add(Receipt receipt) {
    receipts++;
    totalCents += receipt.totalCents();
    for (ReceiptLine line : receipt.lines()) {
      pieces[line.category() % CLASSES] += line.quantity();
    }
  }

  long receipts() {
    return receipts;
  }

  long totalCents() {
    return totalCents;
  }

  int[] pieces() {
    return pieces.clone();
  }

  void clear() {
    receipts = 0;
    totalCents = 0;
    Arrays.fill(pieces, 0);
  }
}
