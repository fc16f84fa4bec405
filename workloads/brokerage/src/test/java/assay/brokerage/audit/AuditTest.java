package assay.brokerage.audit;

import static org.assertj.core.api.Assertions.assertThat;

import assay.brokerage.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuditTest {
  private static final String A_HELD_PURCHASE =
      "(select min(id) from orders where order_state = 'HELD')";
  private static final String A_SALE = "(select min(id) from orders where order_type = 'SELL')";
  private static final String A_HOLDING = "(select min(id) from holding)";

  @Test
  void aFreshDataSetHoldsEveryInvariant() throws SQLException {
    try (Connection connection = TestDatabase.open(TestDatabase.create())) {
      assertThat(audit(connection).failed()).isEmpty();
    }
  }

  @ParameterizedTest(name = "{0} breaks {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          delete from holding where id = $HOLDING                          | shares_of_each_account
          delete from holding where id = $HOLDING                          | basis_of_each_account
          delete from holding where id = $HOLDING                          | one_holding_for_each_purchase_until_sold
          delete from holding where id = $HOLDING                          | money_is_conserved
          update account set balance = balance + 100.00 where id = 3       | cash_of_each_account
          update account set balance = balance + 100.00 where id = 3       | money_is_conserved
          delete from orders where id = $SALE                              | orders_of_each_account
          delete from orders where id = $SALE                              | cash_of_each_account
          delete from orders where id = $SALE                              | volume_counts_each_order_once
          delete from orders where id = $PURCHASE                          | orders_of_each_account
          update orders set order_state = 'OPEN' where id = $SALE          | no_order_is_open
          update orders set order_state = 'CLOSED' where id = $PURCHASE    | one_holding_for_each_purchase_until_sold
          update orders set price = price + 0.01 where id = $SALE          | cash_of_each_account
          update holding set quantity = quantity + 1 where id = $HOLDING   | holding_equals_its_purchase
          update holding set sell_order_id = 999999 where id = $HOLDING    | promised_holding_has_its_sale
          update holding set account_id = 999 where id = $HOLDING          | holdings_belong_to_an_account_and_a_quote
          update orders set symbol = 's:none' where id = $SALE             | orders_belong_to_an_account_and_a_quote
          update orders set holding_id = $HOLDING where id = $SALE         | sold_holding_is_gone
          update orders set holding_id = 7 where order_type = 'SELL'       | no_holding_is_sold_twice
          update quote set volume = volume + 1 where symbol = 's:1'        | volume_counts_each_order_once
          update quote set price = high_price + 1 where symbol = 's:1'     | price_lies_within_its_day
          delete from profile where id = 2                                 | each_account_has_its_profile
          delete from account where id = 44                                | account_rows_are_those_of_the_data_set
          delete from quote where symbol = 's:29'                          | quote_rows_are_those_of_the_data_set
          update orders set account_id = 1                                 | kept_orders_are_bounded
          update holding set account_id = 1                                | holdings_are_bounded
          """)
  void aTamperedTableFailsTheAudit(String tampering, String broken) throws SQLException {
    try (Connection connection = TestDatabase.open(TestDatabase.create());
        Statement statement = connection.createStatement()) {
      int changed =
          statement.executeUpdate(
              tampering
                  .replace("$HOLDING", A_HOLDING)
                  .replace("$SALE", A_SALE)
                  .replace("$PURCHASE", A_HELD_PURCHASE));
      assertThat(changed).isPositive();
      assertThat(audit(connection).failed()).contains(broken);
    }
  }

  @Test
  void anOrderDoneTwiceFailsTheAudit() throws SQLException {
    try (Connection connection = TestDatabase.open(TestDatabase.create());
        Statement statement = connection.createStatement()) {
      statement.executeUpdate(
          "insert into holding select id + 1000000, account_id, buy_order_id, null, symbol,"
              + " quantity, purchase_price, purchased_at from holding where id = "
              + A_HOLDING);
      assertThat(audit(connection).failed())
          .contains(
              "no_purchase_has_two_holdings",
              "one_holding_for_each_purchase_until_sold",
              "shares_of_each_account",
              "money_is_conserved");
    }
  }

  private static AuditReport audit(Connection connection) throws SQLException {
    return Audit.check(connection, TestDatabase.SIZE, 0);
  }
}
