package assay.supermarket.store;

import assay.supermarket.data.Assortment;
import assay.supermarket.message.Account;
import assay.supermarket.message.OrderLine;
import assay.supermarket.message.PriceChange;
import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptLine;
import assay.supermarket.post.Pieces;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * The goods, customers and money of a supermarket. What is done to it depends on nothing else, so
 * that doing it again gives the same. Guarded by the supermarket's lock.
 */
final class Store {
  /** Who hears of what follows from business. */
  interface Office {
    void report(Receipt receipt);

    void order(OrderLine line);
  }

  private static final int PIECES_RETURNED_MAX = 3;

  private final Office office;
  private final Shelves shelves;
  private final Customers customers;
  private final Returnable returnable;
  private final Map<String, Pieces> delivered = new TreeMap<>();
  private final Map<String, Pieces> received = new TreeMap<>();
  private final Map<String, Pieces> handedOver = new TreeMap<>();
  private Ledger ledger = new Ledger();
  private long receiptNumber;

  Store(Assortment assortment, SplittableRandom random, Office office) {
    this.office = office;
    shelves = new Shelves(assortment, random.split());
    customers = new Customers(assortment.sizes().customers(), random.split());
    returnable = new Returnable(assortment.sizes().receiptsReturnable(), PIECES_RETURNED_MAX);
  }

  Sold sell(Sale sale) {
    List<ReceiptLine> lines = new ArrayList<>(sale.barCodes().size());
    long total = 0;
    int missing = 0;
    for (long code : sale.barCodes()) {
      Product product = shelves.byBarCode(code);
      if (product.stock == 0) {
        missing++;
        continue;
      }
      product.stock--;
      product.sold++;
      long unitCents = product.unitCents();
      total += unitCents;
      lines.add(new ReceiptLine(product.id, product.category, 1, unitCents));
      if (shelves.order(product)) {
        office.order(new OrderLine(product.id, Shelves.PIECES_ORDERED));
      }
    }
    if (lines.isEmpty()) {
      return new Sold(0, 0, missing, 0, false);
    }
    boolean onCredit = sale.onCredit() && customers.finance(sale.customer(), total);
    if (onCredit) {
      ledger.financedCents += total;
    } else {
      ledger.cashCents += total;
    }
    Receipt receipt = new Receipt(++receiptNumber, sale.kind(), sale.customer(), total, lines);
    returnable.add(receipt);
    report(receipt);
    return new Sold(receipt.number(), lines.size(), missing, total, onCredit);
  }

  /** Takes up to three pieces of a receipt back. */
  Sold takeBack(long seed) {
    Returnable.Kept bought = returnable.take(seed);
    if (bought == null) {
      return new Sold(0, 0, 0, 0, false);
    }
    int count = 1 + (int) ((seed >>> 1) % PIECES_RETURNED_MAX);
    List<ReceiptLine> lines = new ArrayList<>(count);
    long total = 0;
    for (ReceiptLine line : bought.lines().subList(0, Math.min(count, bought.lines().size()))) {
      Product product = shelves.byId(line.product());
      product.stock += line.quantity();
      product.returned += line.quantity();
      total += line.unitCents() * line.quantity();
      lines.add(
          new ReceiptLine(line.product(), line.category(), -line.quantity(), line.unitCents()));
    }
    long toCredit = customers.refund(bought.customer(), total);
    ledger.refundedCreditCents += toCredit;
    ledger.refundedCashCents += total - toCredit;
    report(new Receipt(++receiptNumber, "return", bought.customer(), -total, lines));
    return new Sold(receiptNumber, lines.size(), 0, total, toCredit > 0);
  }

  private void report(Receipt receipt) {
    ledger.took(receipt);
    office.report(receipt);
  }

  long payInstalment(int customer) {
    long cents = customers.payInstalment(customer);
    ledger.instalmentsCents += cents;
    return cents;
  }

  void deliver(String supplier, OrderLine line) {
    shelves.deliver(line);
    Pieces.add(delivered, supplier, line);
  }

  /** Takes what is there from the shelf for another supermarket. */
  OrderLine handOver(String to, OrderLine wanted) {
    OrderLine granted = shelves.handOver(wanted);
    Pieces.add(handedOver, to, granted);
    return granted;
  }

  void receive(String from, OrderLine line) {
    shelves.receive(line);
    Pieces.add(received, from, line);
  }

  void price(PriceChange change) {
    Product product = shelves.byId(change.product());
    product.priceCents = change.priceCents();
    product.discountPermille = change.discountPermille();
  }

  void restore() {
    shelves.restore();
    customers.restore();
    returnable.clear();
    delivered.clear();
    received.clear();
    handedOver.clear();
    ledger = new Ledger();
  }

  /** Does not change; needs no lock. */
  boolean hasCustomer(int customer) {
    return customers.has(customer);
  }

  /** Throws if there is none; needs no lock. */
  void requireProduct(int product) {
    shelves.byId(product);
  }

  /** Needs no lock. */
  int productOf(long barCode) {
    return shelves.byBarCode(barCode).id;
  }

  void book(List<Account> accounts) {
    shelves.book(accounts);
    customers.book(accounts);
    ledger.book(accounts);
    Pieces.book(accounts, "delivered/", delivered);
    Pieces.book(accounts, "received/", received);
    Pieces.book(accounts, "handed_over/", handedOver);
  }
}
