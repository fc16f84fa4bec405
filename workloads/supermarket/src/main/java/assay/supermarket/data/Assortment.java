package assay.supermarket.data;

import assay.supermarket.model.Fingerprint;
import assay.supermarket.model.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What follows from the seed and never changes: products as they are sold, and what customers put
 * in their baskets.
 */
public final class Assortment {
  private static final int CATEGORIES_MAX = 100;
  private static final int FAVOURITES = 3;
  private static final int BAR_CODES_MIN = 30;
  private static final int BAR_CODES_SPREAD = 61; // 30 to 90, 60 on average
  private static final long PRICE_CENTS_MIN = 49;
  private static final long PRICE_CENTS_SPREAD = 1_000;
  private static final long BAR_CODE_PREFIX = 200_000_000_000L; // GS1: 20 to 29 are a company's own

  private final Sizes sizes;
  private final int categories;
  private final long[] basePriceCents;

  public Assortment(Sizes sizes) {
    this.sizes = sizes;
    this.categories = Math.min(CATEGORIES_MAX, sizes.products() / 10);
    SplittableRandom random = new SplittableRandom(sizes.seed());
    basePriceCents =
        random
            .longs(sizes.products(), 0, PRICE_CENTS_SPREAD)
            .map(c -> c + PRICE_CENTS_MIN)
            .toArray();
  }

  public Sizes sizes() {
    return sizes;
  }

  public int products() {
    return basePriceCents.length;
  }

  public int categories() {
    return categories;
  }

  public int categoryOf(int product) {
    return product % categories;
  }

  public long basePriceCents(int product) {
    return basePriceCents[product];
  }

  /** The EAN-13 of a product, with its check digit. */
  public long barCode(int product) {
    long digits = BAR_CODE_PREFIX + product;
    int sum = 0;
    int weight = 3;
    for (long rest = digits; rest > 0; rest /= 10) {
      sum += weight * (int) (rest % 10);
      weight = 4 - weight;
    }
    return digits * 10 + (10 - sum % 10) % 10;
  }

  /** The product that has this bar code. */
  public int productOf(long barCode) {
    long product = numberIn(barCode);
    if (product < 0 || product >= products() || barCode(Math.toIntExact(product)) != barCode) {
      throw new IllegalArgumentException("no product has the bar code " + barCode);
    }
    return (int) product;
  }

  /** The product that a bar code names if it is one of the company's; it may be any number. */
  public static long numberIn(long barCode) {
    return barCode / 10 - BAR_CODE_PREFIX;
  }

  /**
   * The bar codes of a basket: half of them from the customer's favourite categories, the others
   * from all products, with a preference for those with small numbers.
   */
  public List<Long> basket(long seed, int customer) {
    SplittableRandom random = new SplittableRandom(Fingerprint.weight(seed) ^ customer);
    int count = BAR_CODES_MIN + random.nextInt(BAR_CODES_SPREAD);
    List<Long> codes = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      codes.add(barCode(random.nextBoolean() ? favourite(customer, random) : popular(random)));
    }
    return codes;
  }

  /** One of the favourite categories of a customer. */
  public int favouriteCategory(int customer, int which) {
    // Without the lowest bit, which every weight has.
    return (int) ((Fingerprint.weight(customer * 8L + which) >>> 1) % categories);
  }

  private int favourite(int customer, SplittableRandom random) {
    int category = favouriteCategory(customer, random.nextInt(FAVOURITES));
    int inCategory = (products() - category + categories - 1) / categories;
    return category + categories * random.nextInt(inCategory);
  }

  private int popular(SplittableRandom random) {
    double draw = random.nextDouble();
    return (int) (draw * draw * products());
  }
}
