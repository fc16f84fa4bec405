package assay.supermarket.model;

/**
 * How much data there is.
 *
 * @param seed all data follows from it
 * @param customers of each supermarket
 * @param products of each supermarket; the catalogue is the same everywhere
 * @param receiptsMined receipts that headquarters keeps to mine them
 * @param receiptsReturnable receipts that a supermarket keeps for returns
 */
public record Sizes(
    long seed, int customers, int products, int receiptsMined, int receiptsReturnable) {
  private static final int PRODUCTS_MIN = 100;
  private static final int MOST = 10_000_000;

  public Sizes {
    check("customers", customers, 1);
    check("products", products, PRODUCTS_MIN);
    check("receipts mined", receiptsMined, 1);
    check("receipts returnable", receiptsReturnable, 1);
  }

  public static Sizes standard() {
    return new Sizes(1, 100_000, 100_000, 2_000, 5_000);
  }

  public static Sizes small() {
    return new Sizes(1, 2_000, 2_000, 500, 500);
  }

  private static void check(String what, int size, int least) {
    if (size < least || size > MOST) {
      throw new IllegalArgumentException(what + " must be from " + least + " to " + MOST);
    }
  }
}
