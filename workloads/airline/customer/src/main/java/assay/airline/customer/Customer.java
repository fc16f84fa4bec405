package assay.airline.customer;

import java.util.List;
import org.bson.Document;

/** A customer as stored. Miles are the sum of the credits, one for each booking. */
record Customer(String id, Profile profile, long miles, List<Credit> credits) {
  /** The miles of one booking. */
  record Credit(String booking, long miles) {}

  static Customer of(Document document) {
    List<Credit> credits =
        document.getList("credits", Document.class).stream()
            .map(c -> new Credit(c.getString("booking"), number(c, "miles")))
            .toList();
    return new Customer(
        document.getString("_id"),
        Profile.of(document.get("profile", Document.class)),
        number(document, "miles"),
        credits);
  }

  private static long number(Document document, String key) {
    return document.get(key, Number.class).longValue();
  }
}
