package assay.supermarket.headquarters;

import assay.supermarket.data.Assortment;
import assay.supermarket.message.Association;
import assay.supermarket.message.AssociationReport;
import assay.supermarket.message.BusinessReport;
import assay.supermarket.message.CategorySales;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** What a number of receipts says about products, categories and customers. Immutable. */
final class Mine {
  private static final int TOGETHER_MIN = 2; // one receipt is no association

  private final List<MinedReceipt> receipts;
  private final Assortment assortment;

  Mine(List<MinedReceipt> receipts, Assortment assortment) {
    this.receipts = receipts;
    this.assortment = assortment;
  }

  /** Products that are bought together with this one. */
  AssociationReport withProduct(int product, int most) {
    return with(MinedReceipt::products, assortment.products(), product, most);
  }

  /** Categories that are bought together with this one. */
  AssociationReport withCategory(int category, int most) {
    return with(MinedReceipt::categories, assortment.categories(), category, most);
  }

  private AssociationReport with(
      Function<MinedReceipt, int[]> column, int things, int item, int most) {
    Predicate<MinedReceipt> hasItem =
        receipt -> {
          for (int thing : column.apply(receipt)) {
            if (thing == item) {
              return true;
            }
          }
          return false;
        };
    return associate(column, things, hasItem, item, most);
  }

  /** Products bought by those who buy much of these categories. */
  List<Association> offers(Set<Integer> categories, int most) {
    boolean[] liked = new boolean[assortment.categories()];
    categories.forEach(category -> liked[category] = true);
    Predicate<MinedReceipt> alike =
        receipt -> {
          int common = 0;
          for (int category : receipt.categories()) {
            common += liked[category] ? 1 : 0;
          }
          return common * 4 > receipt.lines();
        };
    return associate(MinedReceipt::products, assortment.products(), alike, -1, most).associations();
  }

  /**
   * Counts the receipts in which things occur together with what is chosen. The lift is the share
   * of those that have a thing among the chosen receipts over its share among all.
   */
  private AssociationReport associate(
      Function<MinedReceipt, int[]> column,
      int things,
      Predicate<MinedReceipt> chosen,
      int itself,
      int most) {
    List<MinedReceipt> chosenReceipts = receipts.stream().filter(chosen).toList();
    int[] amongChosen = new int[things];
    count(chosenReceipts, column, amongChosen, 0, amongChosen);
    int[] amongAll = new int[things];
    // Most things are hardly ever among the chosen, and need no second look.
    count(receipts, column, amongChosen, TOGETHER_MIN, amongAll);
    List<Association> found = new ArrayList<>();
    for (int thing = 0; thing < things; thing++) {
      if (thing != itself && amongChosen[thing] >= TOGETHER_MIN) {
        long lift =
            1_000L
                * amongChosen[thing]
                * receipts.size()
                / ((long) amongAll[thing] * chosenReceipts.size());
        found.add(new Association(thing, amongChosen[thing], lift));
      }
    }
    found.sort(
        Comparator.comparingLong((Association a) -> -a.together() * a.liftPermille())
            .thenComparingInt(Association::item));
    return new AssociationReport(
        receipts.size(),
        chosenReceipts.size(),
        List.copyOf(found.subList(0, Math.min(most, found.size()))));
  }

  /** Adds up in how many receipts a thing is, for those that have been seen so often before. */
  private static void count(
      List<MinedReceipt> receipts,
      Function<MinedReceipt, int[]> column,
      int[] seen,
      int seenMin,
      int[] counts) {
    int[] countedFor = new int[counts.length]; // so that a thing counts once for each receipt
    int number = 0;
    for (MinedReceipt receipt : receipts) {
      number++;
      for (int thing : column.apply(receipt)) {
        if (seen[thing] >= seenMin && countedFor[thing] != number) {
          countedFor[thing] = number;
          counts[thing]++;
        }
      }
    }
  }

  /** Sales in all, of each category, and the products sold most. */
  BusinessReport business(int most) {
    long[] pieces = new long[assortment.categories()];
    long[] cents = new long[assortment.categories()];
    for (MinedReceipt receipt : receipts) {
      for (int line = 0; line < receipt.lines(); line++) {
        int category = receipt.categories()[line];
        int quantity = receipt.quantities()[line];
        pieces[category] += quantity;
        cents[category] += receipt.unitCents()[line] * quantity;
      }
    }
    List<CategorySales> categories =
        IntStream.range(0, pieces.length)
            .mapToObj(category -> new CategorySales(category, pieces[category], cents[category]))
            .toList();
    int[] ofProduct = piecesOfProducts();
    long soldProducts = IntStream.of(ofProduct).filter(count -> count > 0).count();
    long meanPermille = Math.max(1, 1_000 * sum(pieces) / Math.max(1, soldProducts));
    List<Association> products =
        bestSold(ofProduct, most).stream()
            .map(p -> new Association(p, ofProduct[p], ofProduct[p] * 1_000_000L / meanPermille))
            .toList();
    return new BusinessReport(receipts.size(), sum(pieces), sum(cents), categories, products);
  }

  /** The products sold most, most first. */
  List<Integer> bestSold(int most) {
    return bestSold(piecesOfProducts(), most);
  }

  private int[] piecesOfProducts() {
    int[] pieces = new int[assortment.products()];
    for (MinedReceipt receipt : receipts) {
      for (int line = 0; line < receipt.lines(); line++) {
        pieces[receipt.products()[line]] += receipt.quantities()[line];
      }
    }
    return pieces;
  }

  /** Keeps the best so far in a heap whose head is the worst of them. */
  private static List<Integer> bestSold(int[] pieces, int most) {
    Comparator<Integer> better =
        Comparator.comparingInt((Integer product) -> -pieces[product])
            .thenComparing(Comparator.naturalOrder());
    PriorityQueue<Integer> best = new PriorityQueue<>(most + 1, better.reversed());
    for (int product = 0; product < pieces.length; product++) {
      boolean isBetter =
          best.size() < most || (!best.isEmpty() && pieces[product] > pieces[best.element()]);
      if (pieces[product] > 0 && isBetter) {
        best.add(product);
        if (best.size() > most) {
          best.remove();
        }
      }
    }
    return best.stream().sorted(better).toList();
  }

  private static long sum(long[] amounts) {
    long sum = 0;
    for (long amount : amounts) {
      sum += amount;
    }
    return sum;
  }
}
