package assay.kiosk;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A small shop: a fixed assortment, customers, and a till. All data comes from a seed and does not
 * grow with what is sold.
 */
final class Shop {
  static final int PRODUCTS = 2_000;
  static final int CUSTOMERS = 5_000;
  private static final int FOUND_MAX = 20;
  private static final int LINES_MIN = 3;
  private static final int LINES_MAX = 12;
  private static final int PIECES_MAX = 5;
  private static final String[] COLOURS = {
    "red", "green", "blue", "white", "black", "grey", "brown", "yellow", "orange", "violet"
  };
  private static final String[] THINGS = {
    "pencil", "stamp", "envelope", "paper", "candle", "lighter", "newspaper", "magazine",
        "postcard",
    "chocolate", "biscuit", "lemonade", "water", "coffee", "tea", "umbrella", "comb", "soap",
    "battery", "string"
  };

  private final List<Product> products;
  private final Map<String, List<Product>> byWord;
  private final Customer[] customers = new Customer[CUSTOMERS];

  /** Of the till, apart from the books of products and customers. */
  private final AtomicLong receipts = new AtomicLong();

  private final LongAdder pieces = new LongAdder();
  private final LongAdder cents = new LongAdder();

  /** An audit holds purchases back. */
  private final ReadWriteLock business = new ReentrantReadWriteLock();

  Shop(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Product> made = new ArrayList<>(PRODUCTS);
    Map<String, List<Product>> words = new HashMap<>();
    for (int id = 0; id < PRODUCTS; id++) {
      String colour = COLOURS[random.nextInt(COLOURS.length)];
      String thing = THINGS[random.nextInt(THINGS.length)];
      Product product =
          new Product(id, colour + " " + thing + " no. " + id, 20 + random.nextInt(5_000));
      made.add(product);
      for (String word : new String[] {colour, thing}) {
        words.computeIfAbsent(word, unused -> new ArrayList<>()).add(product);
      }
    }
    products = Collections.unmodifiableList(made);
    byWord = words;
    for (int i = 0; i < CUSTOMERS; i++) {
      customers[i] = new Customer();
    }
  }

  List<Product> products() {
    return products;
  }

  List<Customer> customers() {
    List<Customer> all = new ArrayList<>();
    Collections.addAll(all, customers);
    return all;
  }

  long receipts() {
    return receipts.get();
  }

  long pieces() {
    return pieces.sum();
  }

  long cents() {
    return cents.sum();
  }

  /** One product; {@code null} if there is none of this number. */
  Json product(int id) {
    if (id < 0 || id >= PRODUCTS) {
      return null;
    }
    Product product = products.get(id);
    return Json.object()
        .with("id", id)
        .with("name", product.name)
        .with("price", Money.text(product.priceCents))
        .with("stock", product.stock());
  }

  /** The cheapest products with a word in their names. */
  Json search(String word) {
    Json found = Json.array();
    List<Product> all = byWord.getOrDefault(word, Collections.emptyList());
    Comparator<Product> cheapest = Comparator.comparingLong(product -> product.priceCents);
    all.stream()
        .sorted(cheapest.thenComparingInt(product -> product.id))
        .limit(FOUND_MAX)
        .map(product -> product(product.id))
        .forEach(found::add);
    return Json.object().with("word", word).with("matches", all.size()).with("found", found);
  }

  /** Sells a basket that the seed draws. {@code null} if there is no such customer. */
  Json buy(int customer, long seed) {
    if (customer < 0 || customer >= CUSTOMERS) {
      return null;
    }
    SplittableRandom random = new SplittableRandom(seed);
    int lines = LINES_MIN + random.nextInt(LINES_MAX - LINES_MIN + 1);
    Map<Product, Integer> basket = new LinkedHashMap<>();
    while (basket.size() < lines) {
      basket.merge(
          products.get(random.nextInt(PRODUCTS)), 1 + random.nextInt(PIECES_MAX), Integer::sum);
    }
    business.readLock().lock();
    try {
      return sell(customer, basket).json();
    } finally {
      business.readLock().unlock();
    }
  }

  private Receipt sell(int customer, Map<Product, Integer> basket) {
    Product[] bought = basket.keySet().toArray(new Product[0]);
    int[] many = basket.values().stream().mapToInt(Integer::intValue).toArray();
    for (int i = 0; i < bought.length; i++) {
      bought[i].sell(many[i]);
    }
    Receipt receipt = new Receipt(receipts.incrementAndGet(), customer, bought, many);
    pieces.add(receipt.piecesInAll());
    cents.add(receipt.totalCents);
    customers[customer].keep(receipt);
    return receipt;
  }

  /** What a customer bought last. {@code null} if there is no such customer. */
  Json history(int customer) {
    if (customer < 0 || customer >= CUSTOMERS) {
      return null;
    }
    Json latest = Json.array();
    customers[customer].latest().forEach(receipt -> latest.add(receipt.json()));
    return Json.object()
        .with("customer", customer)
        .with("receipts", customers[customer].receipts())
        .with("spent", Money.text(customers[customer].spentCents()))
        .with("latest", latest);
  }

  /** What the books do not agree on, while nothing is sold. */
  List<String> audit() {
    business.writeLock().lock();
    try {
      return Audit.of(this);
    } finally {
      business.writeLock().unlock();
    }
  }
}
