package assay.brokerage.database;

import assay.brokerage.Limits;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.LocalDateTime;
import java.util.SplittableRandom;

/**
 * Writes accounts with a past: closed orders, holdings, and the balance that follows from them. Old
 * orders come first: bought and sold again, then those whose shares are still held.
 */
final class AccountRows implements AutoCloseable {
  private final PreparedStatement account;
  private final PreparedStatement holding;
  private final PreparedStatement order;
  private final BigDecimal[] prices;
  private final long[] volumes;
  private final LocalDateTime begin;
  private long lastOrder;
  private long lastHolding;

  /** Sums over the orders of the account in work. */
  private Past past = new Past();

  /** What the kept orders, and one purchase that is folded already, did to an account. */
  private static final class Past {
    BigDecimal cash = BigDecimal.ZERO;
    BigDecimal foldedCost = BigDecimal.ZERO;
    long foldedShares;
    int foldedOrders;
  }

  AccountRows(Connection connection, BigDecimal[] prices, long[] volumes, LocalDateTime begin)
      throws SQLException {
    this.prices = prices;
    this.volumes = volumes;
    this.begin = begin;
    account =
        connection.prepareStatement(
            "insert into account values (?, ?, ?, ?, null, 0, 0, ?, ?, ?, ?, ?, 0, 0, ?, ?, 0, 0)");
    holding = connection.prepareStatement("insert into holding values (?, ?, ?, null, ?, ?, ?, ?)");
    order =
        connection.prepareStatement(
            "insert into orders values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  }

  /** An account that nobody has yet: it waits for a registration. */
  void addUnused(int id, String userId) throws SQLException {
    past = new Past();
    writeAccount(id, userId, new BigDecimal("1000000.00"), 0);
  }

  void add(int id, String userId, SplittableRandom random) throws SQLException {
    past = new Past();
    int held = portfolioSize(random);
    int old = Limits.ORDERS_KEPT - held;
    if (old % 2 == 1) {
      soldAgain(id, random, true);
    }
    for (int pair = 0; pair < old / 2; pair++) {
      soldAgain(id, random, false);
    }
    for (int i = 0; i < held; i++) {
      held(id, random);
    }
    BigDecimal opening = BigDecimal.valueOf(200_000 + random.nextInt(100_000)).setScale(2);
    if (id == 0) {
      opening = new BigDecimal("1000000.00");
    }
    writeAccount(id, userId, opening, Limits.ORDERS_KEPT + past.foldedOrders);
  }

  /**
   * Purchases and sales are equally likely; at both ends only one way is open. That walk spends
   * half as long at 0 and at the maximum as at each size between.
   */
  private static int portfolioSize(SplittableRandom random) {
    return (random.nextInt(2 * Limits.HOLDINGS_MAX) + 1) / 2;
  }

  private void soldAgain(int id, SplittableRandom random, boolean purchaseFolded)
      throws SQLException {
    int quote = random.nextInt(prices.length);
    int quantity = 1 + random.nextInt(Limits.QUANTITY_MAX);
    BigDecimal value = prices[quote].multiply(BigDecimal.valueOf(quantity));
    long holdingId = ++lastHolding;
    long buyId = ++lastOrder;
    if (purchaseFolded) {
      past.foldedCost = value;
      past.foldedShares = quantity;
      past.foldedOrders = 1;
    } else {
      writeOrder(buyId, id, "BUY", "CLOSED", quote, quantity, BigDecimal.ZERO, holdingId);
    }
    writeOrder(++lastOrder, id, "SELL", "CLOSED", quote, quantity, value, holdingId);
    // Sold at the price of the purchase: only the fees remain.
    past.cash = past.cash.subtract(Limits.FEE).subtract(Limits.FEE);
    volumes[quote] += 2L * quantity;
  }

  private void held(int id, SplittableRandom random) throws SQLException {
    int quote = random.nextInt(prices.length);
    int quantity = 1 + random.nextInt(Limits.QUANTITY_MAX);
    long holdingId = ++lastHolding;
    long orderId = ++lastOrder;
    writeOrder(orderId, id, "BUY", "HELD", quote, quantity, BigDecimal.ZERO, holdingId);
    holding.setLong(1, holdingId);
    holding.setInt(2, id);
    holding.setLong(3, orderId);
    holding.setString(4, "s:" + quote);
    holding.setInt(5, quantity);
    holding.setBigDecimal(6, prices[quote]);
    holding.setTimestamp(7, DataSet.timestamp(begin));
    holding.addBatch();
    BigDecimal value = prices[quote].multiply(BigDecimal.valueOf(quantity));
    past.cash = past.cash.subtract(value).subtract(Limits.FEE);
    volumes[quote] += quantity;
  }

  private void writeOrder(
      long orderId,
      int id,
      String type,
      String state,
      int quote,
      int quantity,
      BigDecimal basis,
      long holdingId)
      throws SQLException {
    order.setLong(1, orderId);
    order.setInt(2, id);
    order.setString(3, type);
    order.setString(4, state);
    order.setString(5, "s:" + quote);
    order.setInt(6, quantity);
    order.setBigDecimal(7, prices[quote]);
    order.setBigDecimal(8, Limits.FEE);
    order.setBigDecimal(9, basis);
    order.setObject(10, holdingId, Types.BIGINT);
    order.setTimestamp(11, DataSet.timestamp(begin));
    order.setTimestamp(12, DataSet.timestamp(begin));
    order.addBatch();
  }

  private void writeAccount(int id, String userId, BigDecimal opening, int ordersOpened)
      throws SQLException {
    account.setInt(1, id);
    account.setString(2, userId);
    account.setString(3, DataSet.passwordHash(userId));
    account.setTimestamp(4, DataSet.timestamp(begin));
    account.setBigDecimal(5, opening);
    account.setBigDecimal(6, opening.add(past.cash));
    account.setLong(7, ordersOpened);
    account.setLong(8, past.foldedOrders);
    account.setBigDecimal(9, past.foldedCost);
    account.setBigDecimal(10, Limits.FEE.multiply(BigDecimal.valueOf(past.foldedOrders)));
    account.setLong(11, past.foldedShares);
    account.addBatch();
  }

  void flush() throws SQLException {
    account.executeBatch();
    holding.executeBatch();
    order.executeBatch();
  }

  @Override
  public void close() throws SQLException {
    account.close();
    holding.close();
    order.close();
  }
}
