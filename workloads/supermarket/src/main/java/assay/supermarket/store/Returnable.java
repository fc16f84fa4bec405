package assay.supermarket.store;

import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptLine;
import assay.supermarket.model.Fingerprint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The latest receipts, of which goods may be brought back, once each: their customers and first
 * lines, in columns that are written over. As objects they lived for some seconds each, so that
 * every young collection copied all of them, 26 MB in 600,000 objects, and its pause decided over
 * response-time limits. Guarded by the supermarket's lock.
 */
final class Returnable {
  /** What the customer of a receipt may bring back. */
  record Kept(int customer, List<ReceiptLine> lines) {}

  private final int linesMax;
  private final int[] lineCounts; // 0: nothing is kept here
  private final int[] customers;
  private final int[] products;
  private final int[] categories;
  private final int[] quantities;
  private final long[] unitCents;
  private int next;

  /** Keeps so many lines of so many receipts. */
  Returnable(int capacity, int linesMax) {
    this.linesMax = linesMax;
    lineCounts = new int[capacity];
    customers = new int[capacity];
    products = new int[capacity * linesMax];
    categories = new int[capacity * linesMax];
    quantities = new int[capacity * linesMax];
    unitCents = new long[capacity * linesMax];
  }

  void add(Receipt receipt) {
    int count = Math.min(linesMax, receipt.lines().size());
    lineCounts[next] = count;
    customers[next] = receipt.customer();
    for (int i = 0; i < count; i++) {
      ReceiptLine line = receipt.lines().get(i);
      int place = next * linesMax + i;
      products[place] = line.product();
      categories[place] = line.category();
      quantities[place] = line.quantity();
      unitCents[place] = line.unitCents();
    }
    next = (next + 1) % lineCounts.length;
  }

  /** Takes the receipt that the seed draws, or the nearest after it; null when there is none. */
  Kept take(long seed) {
    int drawn = (int) ((Fingerprint.weight(seed) >>> 1) % lineCounts.length);
    for (int i = 0; i < lineCounts.length; i++) {
      int receipt = (drawn + i) % lineCounts.length;
      if (lineCounts[receipt] > 0) {
        Kept kept = new Kept(customers[receipt], lines(receipt));
        lineCounts[receipt] = 0;
        return kept;
      }
    }
    return null;
  }

  private List<ReceiptLine> lines(int receipt) {
    List<ReceiptLine> lines = new ArrayList<>(lineCounts[receipt]);
    for (int i = 0; i < lineCounts[receipt]; i++) {
      int place = receipt * linesMax + i;
      lines.add(
          new ReceiptLine(products[place], categories[place], quantities[place], unitCents[place]));
    }
    return lines;
  }

  void clear() {
    Arrays.fill(lineCounts, 0);
    next = 0;
  }
}
