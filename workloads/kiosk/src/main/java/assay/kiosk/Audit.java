package assay.kiosk;

import java.util.ArrayList;
import java.util.List;

/**
 * The shop's own proof that its data is right: products, customers and the till are three books of
 * the same sales. It shares no code with what enters them.
 */
final class Audit {
  private final List<String> wrong = new ArrayList<>();

  private Audit() {}

  /** Each invariant that does not hold. */
  static List<String> of(Shop shop) {
    Audit audit = new Audit();
    audit.products(shop);
    audit.customers(shop);
    return audit.wrong;
  }

  private void products(Shop shop) {
    long pieces = 0;
    long cents = 0;
    for (Product product : shop.products()) {
      pieces += product.sold();
      cents += product.sold() * product.priceCents;
      if (!product.isBalanced()) {
        wrong.add("stock of product " + product.id);
      }
    }
    equal("pieces sold and pieces at the till", pieces, shop.pieces());
    equal("value of what was sold and money at the till", cents, shop.cents());
  }

  private void customers(Shop shop) {
    long receipts = 0;
    long cents = 0;
    int number = 0;
    for (Customer customer : shop.customers()) {
      receipts += customer.receipts();
      cents += customer.spentCents();
      for (Receipt receipt : customer.latest()) {
        if (!receipt.isRight() || receipt.customer != number) {
          wrong.add("a receipt of customer " + number);
        }
      }
      long kept = Math.min(customer.receipts(), Customer.RECEIPTS_KEPT);
      equal("receipts kept of customer " + number, customer.latest().size(), kept);
      number++;
    }
    equal("receipts of customers and of the till", receipts, shop.receipts());
    equal("money of customers and at the till", cents, shop.cents());
  }

  private void equal(String what, long one, long other) {
    if (one != other) {
      wrong.add(what + ": " + one + " and " + other);
    }
  }
}
