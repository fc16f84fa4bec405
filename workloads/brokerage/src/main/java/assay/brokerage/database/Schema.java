package assay.brokerage.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * The tables, in words that H2, Derby and PostgreSQL share. No foreign keys: the audit checks every
 * reference, and a key would forbid the tampering that its tests need.
 */
public final class Schema {
  /** Every table, for row counts. */
  public static final List<String> TABLES =
      List.of("account", "profile", "quote", "holding", "orders");

  private static final List<String> STATEMENTS =
      List.of(
          """
          create table account (
            id int not null primary key,
            user_id varchar(20) not null,
            password_hash varchar(64) not null,
            opened_at timestamp not null,
            last_login timestamp,
            logins int not null,
            logouts int not null,
            opening_balance decimal(18,2) not null,
            balance decimal(18,2) not null,
            orders_opened bigint not null,
            folded_orders bigint not null,
            folded_buy_cost decimal(18,2) not null,
            folded_sell_proceeds decimal(18,2) not null,
            folded_sell_basis decimal(18,2) not null,
            folded_fees decimal(18,2) not null,
            folded_shares_bought bigint not null,
            folded_shares_sold bigint not null,
            retired_shares bigint not null)
          """,
          "create unique index account_user on account (user_id)",
          """
          create table profile (
            id int not null primary key,
            full_name varchar(100) not null,
            address varchar(100) not null,
            email varchar(100) not null,
            credit_card varchar(100) not null)
          """,
          """
          create table quote (
            symbol varchar(20) not null primary key,
            company varchar(100) not null,
            price decimal(14,2) not null,
            open_price decimal(14,2) not null,
            low_price decimal(14,2) not null,
            high_price decimal(14,2) not null,
            price_change decimal(14,2) not null,
            volume bigint not null)
          """,
          """
          create table holding (
            id bigint not null primary key,
            account_id int not null,
            buy_order_id bigint not null,
            sell_order_id bigint,
            symbol varchar(20) not null,
            quantity int not null,
            purchase_price decimal(14,2) not null,
            purchased_at timestamp not null)
          """,
          "create index holding_account on holding (account_id)",
          """
          create table orders (
            id bigint not null primary key,
            account_id int not null,
            order_type varchar(4) not null,
            order_state varchar(6) not null,
            symbol varchar(20) not null,
            quantity int not null,
            price decimal(14,2) not null,
            fee decimal(14,2) not null,
            cost_basis decimal(18,2) not null,
            holding_id bigint,
            opened_at timestamp not null,
            completed_at timestamp)
          """,
          "create index orders_account on orders (account_id)",
          "create index orders_state on orders (order_state)");

  private Schema() {}

  public static void create(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : STATEMENTS) {
        statement.execute(sql);
      }
    }
  }

  /** True when the tables are there, whatever is in them. */
  public static boolean exists(Connection connection) throws SQLException {
    try (ResultSet tables =
        connection.getMetaData().getTables(null, null, "%", new String[] {"TABLE", "BASE TABLE"})) {
      while (tables.next()) {
        if (tables.getString("TABLE_NAME").equalsIgnoreCase("orders")) {
          return true;
        }
      }
      return false;
    }
  }
}
