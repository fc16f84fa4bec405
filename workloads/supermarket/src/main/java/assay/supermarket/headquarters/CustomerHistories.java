package assay.supermarket.headquarters;

import assay.supermarket.data.Assortment;
import assay.supermarket.link.AgentId;
import assay.supermarket.message.Association;
import assay.supermarket.message.BuyingBehaviourReport;
import assay.supermarket.message.Receipt;
import assay.supermarket.model.Company;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * What all customers bought. Made whole at the start, so that it does not grow. Guarded by
 * headquarters' lock.
 */
final class CustomerHistories {
  private static final int FAVOURITE_CLASSES = 3;

  private final Map<String, CustomerHistory[]> bySupermarket = new HashMap<>();
  private final int categories;

  CustomerHistories(Company company, Assortment assortment) {
    categories = assortment.categories();
    for (AgentId supermarket : company.supermarkets()) {
      CustomerHistory[] histories = new CustomerHistory[assortment.sizes().customers()];
      for (int i = 0; i < histories.length; i++) {
        histories[i] = new CustomerHistory();
      }
      bySupermarket.put(supermarket.toString(), histories);
    }
  }

  void add(String supermarket, Receipt receipt) {
    history(supermarket, receipt.customer()).add(receipt);
  }

  void clear() {
    for (CustomerHistory[] histories : bySupermarket.values()) {
      for (CustomerHistory history : histories) {
        history.clear();
      }
    }
  }

  /** A copy of a customer's sums. */
  Behaviour behaviour(String supermarket, int customer) {
    CustomerHistory history = history(supermarket, customer);
    return new Behaviour(
        history.receipts(),
        history.totalCents(),
        IntStream.of(history.pieces()).boxed().toList(),
        categories);
  }

  private CustomerHistory history(String supermarket, int customer) {
    CustomerHistory[] histories = bySupermarket.get(supermarket);
    if (histories == null || customer < 0 || customer >= histories.length) {
      throw new IllegalArgumentException("no customer " + customer + " of " + supermarket);
    }
    return histories[customer];
  }

  /** One customer's sums; pieces by class of categories. */
  record Behaviour(long receipts, long totalCents, List<Integer> pieces, int categories) {
    BuyingBehaviourReport report(Mine mine, int most) {
      long all = Math.max(1, pieces.stream().mapToInt(Integer::intValue).sum());
      List<Association> favourites =
          IntStream.range(0, pieces.size())
              .boxed()
              .sorted(Comparator.comparingInt((Integer c) -> -pieces.get(c)))
              .limit(FAVOURITE_CLASSES)
              .map(
                  c ->
                      new Association(
                          c, pieces.get(c), 1_000L * pieces.get(c) * pieces.size() / all))
              .toList();
      Set<Integer> liked = new HashSet<>();
      for (Association favourite : favourites) {
        for (int c = favourite.item(); c < categories; c += CustomerHistory.CLASSES) {
          liked.add(c);
        }
      }
      return new BuyingBehaviourReport(receipts, totalCents, favourites, mine.offers(liked, most));
    }
  }
}
