package assay.supermarket.headquarters;

import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptLine;
import java.util.List;

/**
 * A receipt as mining reads it: a column for each property of its lines. Mining goes through all
 * receipts each time; where every line is an object of its own, somewhere on the heap, it takes
 * several times as long, nearly all of it waiting for memory. Immutable.
 */
final class MinedReceipt {
  private final int[] products;
  private final int[] categories;
  private final int[] quantities;
  private final long[] unitCents;

  MinedReceipt(Receipt receipt) {
    List<ReceiptLine> lines = receipt.lines();
    products = new int[lines.size()];
    categories = new int[lines.size()];
    quantities = new int[lines.size()];
    unitCents = new long[lines.size()];
    for (int i = 0; i < lines.size(); i++) {
      ReceiptLine line = lines.get(i);
      products[i] = line.product();
      categories[i] = line.category();
      quantities[i] = line.quantity();
      unitCents[i] = line.unitCents();
    }
  }

  int lines() {
    return products.length;
  }

  /** By line; not to be written to. So are all columns. */
  int[] products() {
    return products;
  }

  int[] categories() {
    return categories;
  }

  int[] quantities() {
    return quantities;
  }

  long[] unitCents() {
    return unitCents;
  }
}
