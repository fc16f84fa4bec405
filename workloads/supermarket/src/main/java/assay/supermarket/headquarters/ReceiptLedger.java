package assay.supermarket.headquarters;

import assay.supermarket.message.Account;
import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptLine;
import assay.supermarket.model.Fingerprint;
import assay.supermarket.post.Pieces;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the receipts of each supermarket add up to. Guarded by headquarters' lock. */
final class ReceiptLedger {
  private static final class Sums {
    long count;
    long cents;
    long fingerprint;
    long linesOff;
  }

  private final Map<String, Sums> bySupermarket = new TreeMap<>();
  private final Map<String, Pieces> pieces = new TreeMap<>();

  void add(String supermarket, Receipt receipt) {
    Sums sums = bySupermarket.computeIfAbsent(supermarket, s -> new Sums());
    sums.count++;
    sums.cents += receipt.totalCents();
    sums.fingerprint += Fingerprint.ofReceipt(receipt.number(), receipt.totalCents());
    long total = 0;
    for (ReceiptLine line : receipt.lines()) {
      Pieces.add(pieces, supermarket, line.product(), line.quantity());
      total += line.unitCents() * line.quantity();
    }
    sums.linesOff += total == receipt.totalCents() ? 0 : 1;
  }

  void clear() {
    bySupermarket.clear();
    pieces.clear();
  }

  void book(List<Account> accounts) {
    bySupermarket.forEach(
        (supermarket, sums) -> {
          accounts.add(new Account("receipts.count/" + supermarket, sums.count));
          accounts.add(new Account("receipts.cents/" + supermarket, sums.cents));
          accounts.add(new Account("receipts#/" + supermarket, sums.fingerprint));
          accounts.add(new Account("receipts.off/" + supermarket, sums.linesOff));
        });
    Pieces.book(accounts, "pieces/", pieces);
  }
}
