package assay.brokerage.order;

import assay.brokerage.Limits;
import assay.brokerage.Refused;
import assay.brokerage.Refused.Reason;
import assay.brokerage.account.Account;
import assay.brokerage.account.Customers;
import assay.brokerage.quote.Quote;
import assay.brokerage.quote.QuoteChange;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.persistence.EntityManager;
import jakarta.persistence.LockModeType;
import jakarta.transaction.Transactional;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;

/**
 * Opens and completes orders, each in one transaction. Rows are always locked in the order account,
 * quote, so that two orders cannot wait for each other.
 */
@Singleton
public class OrderBook {
  private final EntityManager em;
  private final Ids ids;
  private final Clock clock;

  @Inject
  public OrderBook(EntityManager em, Ids ids, Clock clock) {
    this.em = em;
    this.ids = ids;
    this.clock = clock;
  }

  /** What opening or completing an order did; {@code change} is empty while it is open. */
  public record Step(OrderView order, Optional<QuoteChange> change) {}

  /**
   * Buys, or sells the oldest holding when the portfolio is full. So the size of portfolios stays
   * the same in the mean however many requests are served.
   */
  @Transactional
  public Step buy(int accountId, String symbol, int quantity, boolean completeNow) {
    checkQuantity(quantity);
    Account account = Customers.locked(em, accountId);
    if (positions(accountId) >= Limits.HOLDINGS_MAX) {
      Holding oldest =
          oldestFree(accountId)
              .orElseThrow(
                  () -> new Refused(Reason.CONFLICT, "the portfolio is full and being sold"));
      return sell(account, oldest, completeNow);
    }
    return buy(account, symbol, quantity, completeNow);
  }

  /**
   * Sells the holding, or the oldest one when none is named. An account without a holding to sell
   * buys instead; which share, follows from the order's number.
   */
  @Transactional
  public Step sell(
      int accountId,
      OptionalLong holdingId,
      String otherwiseBuy,
      int quantity,
      boolean completeNow) {
    Account account = Customers.locked(em, accountId);
    if (holdingId.isPresent()) {
      return sell(account, named(accountId, holdingId.getAsLong()), completeNow);
    }
    Optional<Holding> oldest = oldestFree(accountId);
    if (oldest.isPresent()) {
      return sell(account, oldest.get(), completeNow);
    }
    checkQuantity(quantity);
    if (positions(accountId) >= Limits.HOLDINGS_MAX) {
      throw new Refused(Reason.CONFLICT, "all holdings are being sold or bought");
    }
    return buy(account, otherwiseBuy, quantity, completeNow);
  }

  /** Does nothing when the order is completed already, so it may be asked for more than once. */
  @Transactional
  public Optional<QuoteChange> complete(long orderId) {
    Order seen = em.find(Order.class, orderId);
    if (seen == null) {
      return Optional.empty();
    }
    Account account = Customers.locked(em, seen.accountId());
    em.refresh(seen);
    return seen.state() == OrderState.OPEN
        ? Optional.of(complete(account, seen))
        : Optional.empty();
  }

  /** Orders that a stopped server left open. */
  @Transactional
  public List<Long> open() {
    return em.createQuery(
            "select o.id from Order o where o.state = assay.brokerage.order.OrderState.OPEN"
                + " order by o.id",
            Long.class)
        .getResultList();
  }

  private Step buy(Account account, String symbol, int quantity, boolean completeNow) {
    Trade trade = new Trade(symbol, quantity, price(symbol), Limits.FEE);
    Order order = Order.buy(ids.nextOrder(), account.id(), trade, LocalDateTime.now(clock));
    return opened(account, order, completeNow);
  }

  private Step sell(Account account, Holding holding, boolean completeNow) {
    String symbol = holding.symbol();
    Trade trade = new Trade(symbol, holding.quantity(), price(symbol), Limits.FEE);
    Order order = Order.sell(ids.nextOrder(), holding, trade, LocalDateTime.now(clock));
    holding.sellBy(order.id());
    return opened(account, order, completeNow);
  }

  private Step opened(Account account, Order order, boolean completeNow) {
    account.opened(order);
    em.persist(order);
    Optional<QuoteChange> change =
        completeNow ? Optional.of(complete(account, order)) : Optional.empty();
    return new Step(order.view(), change);
  }

  private QuoteChange complete(Account account, Order order) {
    Quote quote = em.find(Quote.class, order.symbol(), LockModeType.PESSIMISTIC_WRITE);
    LocalDateTime now = LocalDateTime.now(clock);
    if (order.type() == OrderType.BUY) {
      Holding holding = new Holding(ids.nextHolding(), order, now);
      em.persist(holding);
      order.held(holding.id(), now);
    } else {
      Holding holding = em.find(Holding.class, order.holdingId());
      Order purchase = em.find(Order.class, holding.buyOrderId());
      if (purchase != null) {
        purchase.holdingSold();
      }
      em.remove(holding);
      order.sold(now);
    }
    foldOldOrders(account);
    return quote.traded(order.quantity(), priceFactor(order.id()));
  }

  private void foldOldOrders(Account account) {
    List<Order> completed =
        em.createQuery(
                "select o from Order o where o.accountId = :account"
                    + " and o.state <> assay.brokerage.order.OrderState.OPEN order by o.id desc",
                Order.class)
            .setParameter("account", account.id())
            .getResultList();
    for (Order old :
        completed.subList(Math.min(Limits.ORDERS_KEPT, completed.size()), completed.size())) {
      account.fold(old);
      em.remove(old);
    }
  }

  private long positions(int accountId) {
    long holdings =
        em.createQuery("select count(h) from Holding h where h.accountId = :account", Long.class)
            .setParameter("account", accountId)
            .getSingleResult();
    long openPurchases =
        em.createQuery(
                "select count(o) from Order o where o.accountId = :account"
                    + " and o.type = assay.brokerage.order.OrderType.BUY"
                    + " and o.state = assay.brokerage.order.OrderState.OPEN",
                Long.class)
            .setParameter("account", accountId)
            .getSingleResult();
    return holdings + openPurchases;
  }

  private Optional<Holding> oldestFree(int accountId) {
    return em
        .createQuery(
            "select h from Holding h where h.accountId = :account and h.sellOrderId is null"
                + " order by h.id",
            Holding.class)
        .setParameter("account", accountId)
        .setMaxResults(1)
        .getResultList()
        .stream()
        .findFirst();
  }

  private Holding named(int accountId, long holdingId) {
    Holding holding = em.find(Holding.class, holdingId);
    if (holding == null || holding.accountId() != accountId) {
      throw new Refused(Reason.NOT_FOUND, "no holding " + holdingId);
    }
    if (holding.inFlight()) {
      throw new Refused(Reason.CONFLICT, "holding " + holdingId + " is being sold already");
    }
    return holding;
  }

  private BigDecimal price(String symbol) {
    Quote quote = em.find(Quote.class, symbol);
    if (quote == null) {
      throw new Refused(Reason.NOT_FOUND, "no quote " + symbol);
    }
    return quote.price();
  }

  private static void checkQuantity(int quantity) {
    if (quantity < 1 || quantity > Limits.QUANTITY_MAX) {
      throw new Refused(Reason.INVALID, "quantity: give 1 to " + Limits.QUANTITY_MAX);
    }
  }

  /** From 0.90 to 1.10; drawn from the order's number, so that no generator is shared. */
  private static BigDecimal priceFactor(long orderId) {
    int percentPoints = new SplittableRandom(orderId).nextInt(-1000, 1001);
    return BigDecimal.valueOf(10_000L + percentPoints, 4);
  }
}
