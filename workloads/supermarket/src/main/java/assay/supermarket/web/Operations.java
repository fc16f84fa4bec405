package assay.supermarket.web;

import assay.supermarket.Backend;
import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Association;
import assay.supermarket.message.AssociationReport;
import assay.supermarket.message.BusinessReport;
import assay.supermarket.message.BusinessReportQuery;
import assay.supermarket.message.BuyingBehaviourQuery;
import assay.supermarket.message.BuyingBehaviourReport;
import assay.supermarket.message.CategoryAssociationQuery;
import assay.supermarket.message.Message;
import assay.supermarket.message.ProductAssociationQuery;
import assay.supermarket.model.Fingerprint;
import assay.supermarket.model.Refusal;
import assay.supermarket.store.Sold;
import assay.supermarket.store.Supermarket;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Does what is asked for. The answers are for {@link org.eclipse.jetty.util.ajax.JSON}. */
final class Operations {
  private static final int MOST = 10;
  private static final int PIECES_FROM_PARTNER = 5;

  private final Backend backend;
  private final Link link;
  private final int partnerPermille;

  /**
   * @param partnerPermille the share of online purchases of which some goods come from another
   *     supermarket, of another group if there are any
   */
  Operations(Backend backend, Link link, int partnerPermille) {
    this.backend = backend;
    this.link = link;
    this.partnerPermille = partnerPermille;
  }

  CompletionStage<Map<String, Object>> begin(Operation operation, Parameters asked) {
    return switch (operation) {
      case IN_STORE_PURCHASE -> {
        long seed = asked.number("seed");
        int customer = asked.smallNumber("customer");
        List<Long> basket = backend.assortment().basket(seed, customer);
        boolean onCredit = (Fingerprint.weight(seed) & 2) == 0;
        yield supermarket(asked).buyInStore(customer, basket, onCredit).thenApply(Operations::json);
      }
      case ONLINE_PURCHASE -> {
        long seed = asked.number("seed");
        int customer = asked.smallNumber("customer");
        List<Long> basket = backend.assortment().basket(seed, customer);
        Supermarket supermarket = supermarket(asked);
        yield supermarket
            .buyOnline(customer, basket, partner(supermarket, seed), PIECES_FROM_PARTNER)
            .thenApply(Operations::json);
      }
      case INSTALMENT ->
          supermarket(asked)
              .payInstalment(asked.smallNumber("customer"))
              .thenApply(cents -> answer("paid", "paid_cents", cents));
      case PRODUCT_RETURN ->
          supermarket(asked).bringBack(asked.number("seed")).thenApply(Operations::returned);
      case ASSOCIATION_OF_PRODUCT ->
          ask(
                  new ProductAssociationQuery(
                      within(asked.smallNumber("product"), backend.assortment().products()),
                      asked.smallNumber("most", MOST)),
                  AssociationReport.class)
              .thenApply(Operations::json);
      case ASSOCIATION_OF_CATEGORY ->
          ask(
                  new CategoryAssociationQuery(
                      within(asked.smallNumber("category"), backend.assortment().categories()),
                      asked.smallNumber("most", MOST)),
                  AssociationReport.class)
              .thenApply(Operations::json);
      case BUYING_BEHAVIOUR ->
          ask(
                  new BuyingBehaviourQuery(
                      supermarket(asked).id().toString(),
                      within(
                          asked.smallNumber("customer"), backend.assortment().sizes().customers()),
                      asked.smallNumber("most", MOST)),
                  BuyingBehaviourReport.class)
              .thenApply(Operations::json);
      case BUSINESS_REPORT ->
          ask(new BusinessReportQuery(asked.smallNumber("most", MOST)), BusinessReport.class)
              .thenApply(Operations::json);
    };
  }

  private <R extends Message> CompletionStage<R> ask(Message question, Class<R> answer) {
    return link.send(backend.company().headquarters(), question, answer);
  }

  private Supermarket supermarket(Parameters asked) {
    List<Supermarket> all = backend.supermarkets();
    return all.get(within(asked.smallNumber("supermarket"), all.size()));
  }

  private static int within(int number, int count) {
    if (number >= count) {
      throw new Refusal(Refusal.Reason.UNKNOWN, number + " is not below " + count);
    }
    return number;
  }

  /** The partner that the seed draws, or null. */
  private AgentId partner(Supermarket supermarket, long seed) {
    long drawn = Fingerprint.weight(~seed) >>> 1;
    List<AgentId> partners = supermarket.partners();
    return partners.isEmpty() || drawn % 1_000 >= partnerPermille
        ? null
        : partners.get((int) (drawn / 1_000 % partners.size()));
  }

  private static Map<String, Object> answer(String state, String name, long amount) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("state", state);
    answer.put(name, amount);
    return answer;
  }

  private static Map<String, Object> json(Sold sold) {
    Map<String, Object> answer =
        answer(sold.receipt() > 0 ? "sold" : "sold out", "receipt", sold.receipt());
    answer.put("pieces", sold.pieces());
    answer.put("missing", sold.missing());
    answer.put("total_cents", sold.totalCents());
    answer.put("on_credit", sold.onCredit());
    return answer;
  }

  private static Map<String, Object> returned(Sold back) {
    Map<String, Object> answer =
        answer(back.receipt() > 0 ? "returned" : "nothing to return", "receipt", back.receipt());
    answer.put("pieces", back.pieces());
    answer.put("refund_cents", back.totalCents());
    return answer;
  }

  private static Map<String, Object> json(AssociationReport report) {
    Map<String, Object> answer = answer("mined", "receipts", report.receipts());
    answer.put("with_item", report.withItem());
    answer.put("associations", json(report.associations()));
    return answer;
  }

  private static Map<String, Object> json(BuyingBehaviourReport report) {
    Map<String, Object> answer = answer("mined", "receipts", report.receipts());
    answer.put("total_cents", report.totalCents());
    answer.put("favourites", json(report.favouriteCategories()));
    answer.put("offers", json(report.offers()));
    return answer;
  }

  private static Map<String, Object> json(BusinessReport report) {
    Map<String, Object> answer = answer("mined", "receipts", report.receipts());
    answer.put("pieces", report.pieces());
    answer.put("cents", report.cents());
    answer.put(
        "categories",
        report.categories().stream()
            .map(c -> List.of(c.category(), c.pieces(), c.cents()))
            .toList());
    answer.put("best_sold", json(report.products()));
    return answer;
  }

  private static List<List<Long>> json(List<Association> associations) {
    return associations.stream()
        .map(a -> List.of((long) a.item(), a.together(), a.liftPermille()))
        .toList();
  }
}
