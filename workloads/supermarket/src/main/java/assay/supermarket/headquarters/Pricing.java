package assay.supermarket.headquarters;

import assay.supermarket.data.Assortment;
import assay.supermarket.message.PriceChange;
import assay.supermarket.model.Fingerprint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Makes what sells best dearer, within bounds, and gives discounts on others: after every so many
 * receipts, so that prices follow from the receipts alone. Guarded by headquarters' lock.
 */
final class Pricing {
  static final int RECEIPTS_A_PERIOD = 500;
  private static final int CHANGES = 20;
  private static final int RISE_PERMILLE = 10;
  private static final int RISES_MAX = 10;
  private static final int DISCOUNT_PERMILLE = 100;

  private final Assortment assortment;
  private final byte[] rises;
  private long receipts;

  Pricing(Assortment assortment) {
    this.assortment = assortment;
    rises = new byte[assortment.products()];
  }

  /** The prices that change after one more receipt; usually none. */
  List<PriceChange> afterReceipt(ReceiptWindow window) {
    receipts++;
    if (receipts % RECEIPTS_A_PERIOD != 0) {
      return List.of();
    }
    List<PriceChange> changes = new ArrayList<>();
    Mine latest = new Mine(window.latest(RECEIPTS_A_PERIOD), assortment);
    for (int product : latest.bestSold(CHANGES)) {
      rises[product] = (byte) Math.min(RISES_MAX, rises[product] + 1);
      changes.add(change(product, 0));
    }
    for (int i = 0; i < CHANGES; i++) {
      long drawn = Fingerprint.weight(receipts + i);
      int product = (int) ((drawn >>> 1) % assortment.products());
      rises[product] = (byte) Math.max(0, rises[product] - 1);
      changes.add(change(product, drawn < 0 ? DISCOUNT_PERMILLE : 0));
    }
    return changes;
  }

  private PriceChange change(int product, int discountPermille) {
    long base = assortment.basePriceCents(product);
    long price = base * (1_000 + (long) RISE_PERMILLE * rises[product]) / 1_000;
    return new PriceChange(product, price, discountPermille);
  }

  void restore() {
    Arrays.fill(rises, (byte) 0);
    receipts = 0;
  }
}
