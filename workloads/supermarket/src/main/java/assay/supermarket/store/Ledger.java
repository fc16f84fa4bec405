package assay.supermarket.store;

import assay.supermarket.message.Account;
import assay.supermarket.message.Receipt;
import assay.supermarket.model.Fingerprint;
import java.util.List;

/** What a supermarket took and gave, in all, in cents. Guarded by its lock. */
final class Ledger {
  long cashCents;
  long financedCents;
  long instalmentsCents;
  long refundedCashCents;
  long refundedCreditCents;
  private long receipts;
  private long receiptsFingerprint;
  private long receiptCents;

  void took(Receipt receipt) {
    receipts++;
    receiptCents += receipt.totalCents();
    receiptsFingerprint += Fingerprint.ofReceipt(receipt.number(), receipt.totalCents());
  }

  void book(List<Account> accounts) {
    accounts.add(new Account("money.cash", cashCents));
    accounts.add(new Account("money.financed", financedCents));
    accounts.add(new Account("money.instalments", instalmentsCents));
    accounts.add(new Account("money.refunded_cash", refundedCashCents));
    accounts.add(new Account("money.refunded_credit", refundedCreditCents));
    accounts.add(new Account("receipts.count", receipts));
    accounts.add(new Account("receipts.cents", receiptCents));
    accounts.add(new Account("receipts#", receiptsFingerprint));
  }
}
