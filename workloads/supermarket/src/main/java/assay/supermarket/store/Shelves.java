package assay.supermarket.store;

import assay.supermarket.data.Assortment;
import assay.supermarket.message.Account;
import assay.supermarket.message.OrderLine;
import assay.supermarket.model.Fingerprint;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;

/** The products of a supermarket. Guarded by its lock. */
final class Shelves {
  /** Below this many pieces, on the shelf and ordered, a product is ordered. */
  static final int PIECES_LOW = 20;

  /** So many pieces are ordered at once. */
  static final int PIECES_ORDERED = 40;

  private final Product[] products;
  private final Assortment assortment;
  private final int[] openingStock;

  Shelves(Assortment assortment, SplittableRandom random) {
    this.assortment = assortment;
    products = new Product[assortment.products()];
    openingStock = new int[products.length];
    for (int id = 0; id < products.length; id++) {
      products[id] = new Product(id, assortment.barCode(id), assortment.categoryOf(id));
      // Where stock is after many sales and orders, so that the share of orders does not change.
      openingStock[id] = PIECES_LOW + random.nextInt(PIECES_ORDERED);
    }
    restore();
  }

  void restore() {
    for (Product product : products) {
      product.priceCents = assortment.basePriceCents(product.id);
      product.discountPermille = 0;
      product.opening = openingStock[product.id];
      product.stock = product.opening;
      product.ordered = 0;
      product.delivered = 0;
      product.received = 0;
      product.handedOver = 0;
      product.sold = 0;
      product.returned = 0;
    }
  }

  /**
   * Without a table of bar codes: sixty places of it for each purchase were as many waits for
   * memory, a tenth of the agents' processor time. Nor by {@link Assortment#productOf}: computing
   * check digits takes nearly as long.
   */
  Product byBarCode(long code) {
    long number = Assortment.numberIn(code);
    if (number < 0 || number >= products.length || products[(int) number].barCode != code) {
      throw new IllegalArgumentException("no product has the bar code " + code);
    }
    return products[(int) number];
  }

  Product byId(int id) {
    if (id < 0 || id >= products.length) {
      throw new IllegalArgumentException("there is no product " + id);
    }
    return products[id];
  }

  int size() {
    return products.length;
  }

  /** Whether the product has just become low; if so, it counts as ordered from now on. */
  boolean order(Product product) {
    if (product.stock + product.ordered >= PIECES_LOW) {
      return false;
    }
    product.ordered += PIECES_ORDERED;
    return true;
  }

  void deliver(OrderLine line) {
    Product product = byId(line.product());
    product.stock += line.quantity();
    product.ordered -= line.quantity();
    product.delivered += line.quantity();
  }

  /** Takes what is there for another supermarket. */
  OrderLine handOver(OrderLine wanted) {
    Product product = byId(wanted.product());
    int granted = Math.max(0, Math.min(wanted.quantity(), product.stock));
    product.stock -= granted;
    product.handedOver += granted;
    return new OrderLine(product.id, granted);
  }

  void receive(OrderLine line) {
    Product product = byId(line.product());
    product.stock += line.quantity();
    product.received += line.quantity();
  }

  void book(List<Account> accounts) {
    accounts.add(new Account("data.products", products.length));
    book(accounts, "stock.opening", p -> p.opening);
    book(accounts, "stock.delivered", p -> p.delivered);
    book(accounts, "stock.received", p -> p.received);
    book(accounts, "stock.handed_over", p -> p.handedOver);
    book(accounts, "stock.sold", p -> p.sold);
    book(accounts, "stock.returned", p -> p.returned);
    book(accounts, "stock.left", p -> p.stock);
    accounts.add(new Account("stock.ordered", sum(p -> p.ordered)));
    accounts.add(new Account("stock.products_off", sum(p -> p.off() == 0 ? 0 : 1)));
    accounts.add(new Account("stock.products_negative", sum(p -> p.stock < 0 ? 1 : 0)));
  }

  private void book(List<Account> accounts, String name, ToLongFunction<Product> pieces) {
    accounts.add(new Account(name, sum(pieces)));
    accounts.add(
        new Account(name + "#", sum(p -> pieces.applyAsLong(p) * Fingerprint.weight(p.id))));
  }

  private long sum(ToLongFunction<Product> amount) {
    long sum = 0;
    for (Product product : products) {
      sum += amount.applyAsLong(product);
    }
    return sum;
  }
}
