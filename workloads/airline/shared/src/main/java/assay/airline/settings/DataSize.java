package assay.airline.settings;

/**
 * How much data there is. Nothing of it grows with the requests served: customers and flights are
 * fixed, and so is the number of bookings that a customer may have.
 *
 * @param customers {@code c0} to {@code c(customers - 1)}
 * @param seats of each flight
 */
public record DataSize(int customers, int seats) {
  public static DataSize named(String name) {
    return switch (name) {
      case "small" -> new DataSize(1_000, 120);
      case "standard" -> new DataSize(10_000, 240);
      default ->
          throw new IllegalArgumentException(
              "data set '" + name + "' is unknown: use small or standard");
    };
  }
}
