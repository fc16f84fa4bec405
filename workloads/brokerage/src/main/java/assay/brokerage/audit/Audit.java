package assay.brokerage.audit;

import assay.brokerage.audit.AuditReport.Verdict;
import assay.brokerage.database.DataSetSize;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;

/** Proves from the tables alone that money and shares are conserved and no order was lost. */
@Singleton
public class Audit {
  private static final Duration TRADES_PAUSE_MAX = Duration.ofSeconds(10);
  private static final Duration OPEN_ORDERS_MAX = Duration.ofSeconds(30);
  private static final int OFFENDERS_SHOWN_MAX = 5;
  private static final int POLL_MS = 20;

  private final DataSource dataSource;
  private final DataSetSize size;
  private final TradingGate gate;

  @Inject
  public Audit(DataSource dataSource, DataSetSize size, TradingGate gate) {
    this.dataSource = dataSource;
    this.size = size;
    this.gate = gate;
  }

  /**
   * Holds new trades back, waits for open orders, and checks. Orders that are still open after the
   * wait are a failure of {@code no_order_is_open}.
   */
  public AuditReport audit() throws SQLException, InterruptedException, TimeoutException {
    return gate.closed(
        TRADES_PAUSE_MAX,
        () -> {
          try (Connection connection = dataSource.getConnection()) {
            return check(connection, size, awaitOpenOrders(connection));
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("interrupted while waiting for open orders", e);
          }
        });
  }

  /** Checks the tables as they are. */
  static AuditReport check(Connection connection, DataSetSize size, long waitedMs)
      throws SQLException {
    List<Verdict> verdicts = new ArrayList<>();
    for (Invariant invariant : Invariant.ALL) {
      verdicts.add(new Verdict(invariant.name(), offenders(connection, invariant.offenders())));
    }
    verdicts.add(count(connection, "account", size.accounts()));
    verdicts.add(count(connection, "quote", size.quotes()));
    Ledger ledger = Ledger.read(connection);
    List<String> lost =
        ledger.difference().signum() == 0 ? List.of() : List.of(ledger.difference().toString());
    verdicts.add(new Verdict("money_is_conserved", lost));
    return new AuditReport(waitedMs, verdicts, ledger);
  }

  private static long awaitOpenOrders(Connection connection)
      throws SQLException, InterruptedException {
    long begin = System.nanoTime();
    long deadline = begin + OPEN_ORDERS_MAX.toNanos();
    while (rows(connection, "select count(*) from orders where order_state = 'OPEN'") > 0
        && System.nanoTime() < deadline) {
      Thread.sleep(POLL_MS);
    }
    return (System.nanoTime() - begin) / 1_000_000;
  }

  private static Verdict count(Connection connection, String table, int expected)
      throws SQLException {
    long found = rows(connection, "select count(*) from " + table);
    return new Verdict(
        table + "_rows_are_those_of_the_data_set",
        found == expected ? List.of() : List.of(found + " instead of " + expected));
  }

  private static List<String> offenders(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.setMaxRows(OFFENDERS_SHOWN_MAX);
      try (ResultSet rows = statement.executeQuery(query)) {
        List<String> offenders = new ArrayList<>();
        while (rows.next()) {
          offenders.add(rows.getString(1));
        }
        return offenders;
      }
    }
  }

  private static long rows(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getLong(1);
    }
  }
}
