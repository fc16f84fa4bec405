package assay.airline.flight;

import java.util.List;
import org.bson.Document;

/** A flight as stored. Seats left and seats taken, one for each booking, are all its seats. */
record Flight(
    String name,
    String from,
    String to,
    String departs,
    long miles,
    long priceCents,
    int seats,
    int left,
    List<String> taken) {
  static Flight of(Document document) {
    List<String> taken = document.getList("taken", String.class);
    return new Flight(
        document.getString("_id"),
        document.getString("from"),
        document.getString("to"),
        document.getString("departs"),
        number(document, "miles").longValue(),
        number(document, "price_cents").longValue(),
        number(document, "seats").intValue(),
        number(document, "left").intValue(),
        // A query does not ask for them.
        taken == null ? List.of() : List.copyOf(taken));
  }

  private static Number number(Document document, String key) {
    return document.get(key, Number.class);
  }
}
