package assay.brokerage.audit;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The money of all accounts together. Money is conserved when {@link #difference} is zero:
 *
 * <pre>
 * opening balances + realised gains = balances + fees + cost of holdings + cost of open purchases
 *                                     - cost of holdings in open sales
 * </pre>
 *
 * A realised gain is what a sale brought beyond the cost of its shares. A sale is credited when it
 * opens, its holding leaves when it is completed: hence the last term.
 */
public record Ledger(
    BigDecimal openingBalances,
    BigDecimal realisedGains,
    BigDecimal balances,
    BigDecimal fees,
    BigDecimal holdingsCost,
    BigDecimal openPurchasesCost,
    BigDecimal openSalesCost) {

  public BigDecimal difference() {
    return openingBalances
        .add(realisedGains)
        .subtract(balances)
        .subtract(fees)
        .subtract(holdingsCost)
        .subtract(openPurchasesCost)
        .add(openSalesCost);
  }

  static Ledger read(Connection connection) throws SQLException {
    return new Ledger(
        sum(connection, "select sum(opening_balance) from account"),
        sum(connection, "select sum(folded_sell_proceeds - folded_sell_basis) from account")
            .add(
                sum(
                    connection,
                    "select sum(price * quantity - cost_basis) from orders"
                        + " where order_type = 'SELL'")),
        sum(connection, "select sum(balance) from account"),
        sum(connection, "select sum(folded_fees) from account")
            .add(sum(connection, "select sum(fee) from orders")),
        sum(connection, "select sum(purchase_price * quantity) from holding"),
        sum(
            connection,
            "select sum(price * quantity) from orders"
                + " where order_type = 'BUY' and order_state = 'OPEN'"),
        sum(
            connection,
            "select sum(cost_basis) from orders"
                + " where order_type = 'SELL' and order_state = 'OPEN'"));
  }

  private static BigDecimal sum(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      BigDecimal sum = row.getBigDecimal(1);
      return sum == null ? BigDecimal.ZERO : sum;
    }
  }
}
