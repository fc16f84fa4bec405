package assay.brokerage.database;

/**
 * How many customers and quotes a data set has. Accounts 0 to users-1 are {@code uid:N}; the {@code
 * ring} accounts after them, {@code ru:N}, are given to those who register.
 */
public record DataSetSize(int users, int ring, int quotes) {
  /** The sizes that the workload offers by name. */
  public static DataSetSize named(String name) {
    return switch (name) {
      case "standard" -> new DataSetSize(15_000, 3_000, 10_000);
      case "small" -> new DataSetSize(500, 500, 1_000);
      default ->
          throw new IllegalArgumentException(
              "data set '" + name + "' is unknown: use standard or small");
    };
  }

  public int accounts() {
    return users + ring;
  }
}
