package assay.supermarket.headquarters;

import assay.supermarket.data.Assortment;
import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptLine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The latest receipts. It is full from the start, with receipts drawn from the seed, so that mining
 * takes as long at the start as later. Guarded by headquarters' lock.
 */
final class ReceiptWindow {
  private final MinedReceipt[] opening;
  private final MinedReceipt[] ring;
  private int oldest;

  ReceiptWindow(Assortment assortment) {
    opening = new MinedReceipt[assortment.sizes().receiptsMined()];
    SplittableRandom random = new SplittableRandom(assortment.sizes().seed() ^ 0x5EED);
    for (int i = 0; i < opening.length; i++) {
      opening[i] = new MinedReceipt(draw(assortment, random));
    }
    ring = opening.clone();
  }

  private static Receipt draw(Assortment assortment, SplittableRandom random) {
    int customer = random.nextInt(assortment.sizes().customers());
    List<ReceiptLine> lines = new ArrayList<>();
    long total = 0;
    for (long code : assortment.basket(random.nextLong(), customer)) {
      int product = assortment.productOf(code);
      long cents = assortment.basePriceCents(product);
      total += cents;
      lines.add(new ReceiptLine(product, assortment.categoryOf(product), 1, cents));
    }
    return new Receipt(0, "earlier", customer, total, lines);
  }

  void add(Receipt receipt) {
    ring[oldest] = new MinedReceipt(receipt);
    oldest = (oldest + 1) % ring.length;
  }

  /** A copy, oldest first. */
  List<MinedReceipt> receipts() {
    MinedReceipt[] copy = new MinedReceipt[ring.length];
    System.arraycopy(ring, oldest, copy, 0, ring.length - oldest);
    System.arraycopy(ring, 0, copy, ring.length - oldest, oldest);
    return Arrays.asList(copy);
  }

  /** A copy of the latest ones, oldest first. */
  List<MinedReceipt> latest(int count) {
    List<MinedReceipt> all = new ArrayList<>(count);
    for (int i = Math.min(count, ring.length); i > 0; i--) {
      all.add(ring[Math.floorMod(oldest - i, ring.length)]);
    }
    return all;
  }

  void restore() {
    System.arraycopy(opening, 0, ring, 0, ring.length);
    oldest = 0;
  }
}
