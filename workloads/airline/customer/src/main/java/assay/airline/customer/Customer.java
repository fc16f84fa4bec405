package assay.airline.customer;

import java.util.List;
import org.bson.Document;

/** A customer as stored. Miles are the sum of the credits, one for each booking. */
record Customer(String id, Profile profile, long miles, List<Credit> credits) {
  /** The miles of one booking. */
  record Credit(String booking, long miles) {}

  static Customer of(Document document) {
    List<Credit> credits =
        document.get("credits", Document.class).entrySet().stream()
            .map(c -> new Credit(bookingOf(c.getKey()), ((Number) c.getValue()).longValue()))
            .toList();
    return new Customer(
        document.getString("_id"),
        Profile.of(document.get("profile", Document.class)),
        number(document, "miles"),
        credits);
  }

  /**
   * The field with the miles of a booking. A dot in a field's path separates names; the names of
   * bookings contain dots, but no underscores.
   */
  static String creditOf(String booking) {
    return "credits." + booking.replace('.', '_');
  }

  private static String bookingOf(String field) {
    return field.replace('_', '.');
  }

  private static long number(Document document, String key) {
    return document.get(key, Number.class).longValue();
  }
}
