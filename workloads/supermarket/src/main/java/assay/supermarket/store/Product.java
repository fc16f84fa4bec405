package assay.supermarket.store;

/**
 * A product on the shelves of one supermarket, with the account of its pieces. Guarded by the
 * supermarket's lock.
 */
final class Product {
  final int id;
  final long barCode;
  final String name;
  final int category;
  long priceCents;
  int discountPermille;
  int stock;
  int ordered;
  int opening;
  long delivered;
  long received;
  long handedOver;
  long sold;
  long returned;

  Product(int id, long barCode, int category) {
    this.id = id;
    this.barCode = barCode;
    this.name = "Product " + id + " of category " + category;
    this.category = category;
  }

  long unitCents() {
    return priceCents * (1_000 - discountPermille) / 1_000;
  }

  /** Pieces that are on the shelf but should not be (or, if negative, are missing). */
  long off() {
    return stock - (opening + delivered + received - handedOver - sold + returned);
  }
}
