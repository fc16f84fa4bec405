package assay.kiosk;

/** Something that is sold, and the book of its stock. */
final class Product {
  static final long OPENING_STOCK = 1_000;
  static final long DELIVERY = 500;

  final int id;
  final String name;
  final long priceCents;

  private long stock = OPENING_STOCK;
  private long delivered;
  private long sold;

  Product(int id, String name, long priceCents) {
    this.id = id;
    this.name = name;
    this.priceCents = priceCents;
  }

  /** Sells so many pieces; what is not there is delivered first. */
  synchronized void sell(long pieces) {
    while (stock < pieces) {
      stock += DELIVERY;
      delivered += DELIVERY;
    }
    stock -= pieces;
    sold += pieces;
  }

  synchronized long stock() {
    return stock;
  }

  /** Pieces that were sold since the start. */
  synchronized long sold() {
    return sold;
  }

  /** Whether opening stock and deliveries are what was sold and what is left. */
  synchronized boolean isBalanced() {
    return OPENING_STOCK + delivered == sold + stock;
  }
}
