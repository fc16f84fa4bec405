package assay.brokerage.database;

import assay.brokerage.Limits;
import assay.brokerage.account.PasswordHash;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.LocalDateTime;
import java.util.SplittableRandom;

/**
 * Fills empty tables with a data set. The same size and seed give the same rows. Every table has
 * its final size from the first request on: each account has {@link Limits#ORDERS_KEPT} closed
 * orders, and the sizes of portfolios are drawn from the distribution that the order mix leaves
 * unchanged.
 */
public final class DataSet {
  private static final long SEED = 20_080_416;
  private static final int BATCH_ROWS = 2_000;
  private static final LocalDateTime BEGIN = LocalDateTime.of(2026, 1, 1, 9, 0);

  /** What every customer of a data set logs in with. */
  public static final String PASSWORD = "xxx";

  private final Connection connection;
  private final DataSetSize size;
  private final BigDecimal[] prices;
  private final long[] volumes;

  private DataSet(Connection connection, DataSetSize size) {
    this.connection = connection;
    this.size = size;
    this.prices = new BigDecimal[size.quotes()];
    this.volumes = new long[size.quotes()];
  }

  /** Arguments: JDBC URL, user, password, name of the data set. */
  public static void main(String[] arguments) throws SQLException {
    if (arguments.length != 4) {
      throw new IllegalArgumentException("arguments: JDBC-URL USER PASSWORD standard|small");
    }
    try (Connection connection =
        DriverManager.getConnection(arguments[0], arguments[1], arguments[2])) {
      create(connection, DataSetSize.named(arguments[3]));
    }
  }

  /** Creates the tables and fills them in one transaction. */
  public static void create(Connection connection, DataSetSize size) throws SQLException {
    connection.setAutoCommit(false);
    Schema.create(connection);
    new DataSet(connection, size).fill();
    connection.commit();
  }

  private void fill() throws SQLException {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < prices.length; i++) {
      prices[i] = BigDecimal.valueOf(100 + random.nextLong(19_901), 2);
    }
    try (AccountRows rows = new AccountRows(connection, prices, volumes, BEGIN)) {
      for (int id = 0; id < size.accounts(); id++) {
        if (id < size.users()) {
          rows.add(id, userId(id), random.split());
        } else {
          rows.addUnused(id, userId(id));
        }
        if (id % BATCH_ROWS == BATCH_ROWS - 1) {
          rows.flush();
        }
      }
      rows.flush();
    }
    profiles();
    quotes();
  }

  private String userId(int id) {
    return id < size.users() ? "uid:" + id : "ru:" + (id - size.users());
  }

  private void profiles() throws SQLException {
    try (PreparedStatement row =
        connection.prepareStatement("insert into profile values (?, ?, ?, ?, ?)")) {
      for (int id = 0; id < size.accounts(); id++) {
        row.setInt(1, id);
        row.setString(2, "Customer " + id);
        row.setString(3, id % 200 + " Market Street, Springfield");
        row.setString(4, "customer" + id + "@example.com");
        row.setString(5, String.format("4000-0000-%04d-%04d", id / 10_000, id % 10_000));
        row.addBatch();
        if (id % BATCH_ROWS == BATCH_ROWS - 1) {
          row.executeBatch();
        }
      }
      row.executeBatch();
    }
  }

  private void quotes() throws SQLException {
    try (PreparedStatement row =
        connection.prepareStatement("insert into quote values (?, ?, ?, ?, ?, ?, ?, ?)")) {
      for (int i = 0; i < prices.length; i++) {
        row.setString(1, "s:" + i);
        row.setString(2, "Company " + i + " Incorporated");
        for (int column = 3; column <= 6; column++) {
          row.setBigDecimal(column, prices[i]);
        }
        row.setBigDecimal(7, BigDecimal.ZERO);
        row.setLong(8, volumes[i]);
        row.addBatch();
        if (i % BATCH_ROWS == BATCH_ROWS - 1) {
          row.executeBatch();
        }
      }
      row.executeBatch();
    }
  }

  static Timestamp timestamp(LocalDateTime at) {
    return Timestamp.valueOf(at);
  }

  static String passwordHash(String userId) {
    return PasswordHash.of(userId, PASSWORD);
  }
}
