package assay.brokerage;

import assay.brokerage.database.DataSet;
import assay.brokerage.database.DataSetSize;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;

/** A small data set in memory. */
public final class TestDatabase {
  public static final DataSetSize SIZE = new DataSetSize(40, 5, 30);
  private static final AtomicInteger MADE = new AtomicInteger();

  private TestDatabase() {}

  /** The URL of a new database that lives as long as this process. */
  public static String create() throws SQLException {
    String url = "jdbc:h2:mem:test" + MADE.incrementAndGet() + ";DB_CLOSE_DELAY=-1";
    try (Connection connection = open(url)) {
      DataSet.create(connection, SIZE);
    }
    return url;
  }

  public static Connection open(String url) throws SQLException {
    return DriverManager.getConnection(url, "sa", "");
  }
}
