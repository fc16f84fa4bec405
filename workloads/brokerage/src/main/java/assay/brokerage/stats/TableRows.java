package assay.brokerage.stats;

import assay.brokerage.database.Schema;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;
import javax.sql.DataSource;

/** Counts the rows of every table, to show that the data does not grow. */
@Singleton
public class TableRows {
  private final DataSource dataSource;

  @Inject
  public TableRows(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  public Map<String, Long> count() throws SQLException {
    Map<String, Long> counts = new TreeMap<>();
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      for (String table : Schema.TABLES) {
        try (ResultSet row = statement.executeQuery("select count(*) from " + table)) {
          row.next();
          counts.put(table, row.getLong(1));
        }
      }
    }
    return counts;
  }
}
