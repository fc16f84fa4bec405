package assay.airline.customer;

import assay.airline.Refused;
import org.bson.Document;

/** What a customer may change. */
record Profile(String name, String street, String city, String phone) {
  private static final int TEXT_MAX = 100;

  Profile {
    for (String text : new String[] {name, street, city, phone}) {
      if (text == null || text.isBlank() || text.length() > TEXT_MAX) {
        throw new Refused(
            Refused.Reason.INVALID,
            "name, street, city and phone are wanted, of at most " + TEXT_MAX + " characters");
      }
    }
  }

  static Profile of(Document document) {
    return new Profile(
        document.getString("name"),
        document.getString("street"),
        document.getString("city"),
        document.getString("phone"));
  }

  Document document() {
    return new Document("name", name)
        .append("street", street)
        .append("city", city)
        .append("phone", phone);
  }
}
