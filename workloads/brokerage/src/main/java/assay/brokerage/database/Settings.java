package assay.brokerage.database;

import assay.brokerage.order.OrderMode;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Clock;

/** The server's options, from its environment (see workload.toml). */
@Singleton
public class Settings {
  private final OrderMode mode;
  private final DataSetSize size;
  private final String database;

  public Settings() {
    mode = OrderMode.parse(environment("BROKERAGE_ORDER_MODE"));
    size = DataSetSize.named(environment("BROKERAGE_DATA"));
    database = environment("BROKERAGE_DATABASE");
  }

  /** The kind of database: h2, derby or postgresql. */
  public String database() {
    return database;
  }

  @Produces
  OrderMode mode() {
    return mode;
  }

  @Produces
  DataSetSize size() {
    return size;
  }

  @Produces
  static Clock clock() {
    return Clock.systemUTC();
  }

  private static String environment(String name) {
    String value = System.getenv(name);
    if (value == null || value.isBlank()) {
      throw new IllegalStateException(
          "environment variable " + name + " is not set: workload.toml says its values");
    }
    return value;
  }
}
