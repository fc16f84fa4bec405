package assay.kiosk;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Somebody who buys: an account, and the latest receipts. */
final class Customer {
  static final int RECEIPTS_KEPT = 8;

  private final Deque<Receipt> latest = new ArrayDeque<>(RECEIPTS_KEPT);
  private long receipts;
  private long spentCents;

  synchronized void keep(Receipt receipt) {
    if (latest.size() == RECEIPTS_KEPT) {
      latest.removeFirst();
    }
    latest.addLast(receipt);
    receipts++;
    spentCents += receipt.totalCents;
  }

  /** The latest receipts, the oldest first. */
  synchronized List<Receipt> latest() {
    return new ArrayList<>(latest);
  }

  synchronized long receipts() {
    return receipts;
  }

  synchronized long spentCents() {
    return spentCents;
  }
}
