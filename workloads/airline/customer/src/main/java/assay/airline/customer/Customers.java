package assay.airline.customer;

import static assay.airline.customer.Customer.creditOf;
import static assay.airline.documents.Documents.withId;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.lt;
import static com.mongodb.client.model.Filters.ne;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.popFirst;
import static com.mongodb.client.model.Updates.push;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.unset;

import assay.airline.documents.Documents;
import assay.airline.effect.Effect;
import assay.airline.settings.DataSize;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoCollection;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;
import org.bson.Document;
import org.bson.conversions.Bson;

/**
 * All customers, a document each. Miles change together with the credit of their booking, in one
 * change of one document, so that a repeated request changes nothing.
 */
@Singleton
public class Customers {
  static final String COLLECTION = "customer";

  /** A customer with as many bookings gets no other. */
  static final int CREDITS_MAX = 20;

  /** Bookings of which a customer remembers that their credit was taken back. */
  private static final int TAKEN_BACK_KEPT = 16;

  private final MongoCollection<Document> customers;

  @Inject
  public Customers(Documents documents) {
    customers = documents.collection(COLLECTION);
  }

  static Document fresh(int number, DataSize size) {
    String id = "c" + number;
    Profile profile =
        new Profile(
            "Customer " + number,
            number + " Runway Road",
            "City " + number % 97,
            "555-" + (size.customers() + number));
    return new Document("_id", id)
        .append("password", PasswordHash.of(id, "fly"))
        .append("profile", profile.document())
        .append("miles", 0L)
        .append("credits", new Document())
        // No condition can count the fields of a document.
        .append("credit_count", 0)
        .append("taken_back", List.of());
  }

  Optional<Customer> find(String id) {
    return Optional.ofNullable(customers.find(eq("_id", id)).first()).map(Customer::of);
  }

  boolean isPassword(String id, String password) {
    Document customer = customers.find(eq("_id", id)).first();
    return customer != null
        && MessageDigest.isEqual(
            bytes(PasswordHash.of(id, password)), bytes(customer.getString("password")));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  boolean update(String id, Profile profile) {
    return customers.updateOne(eq("_id", id), set("profile", profile.document())).getMatchedCount()
        == 1;
  }

  /** Gives a customer the miles of a booking, once. */
  Effect credit(String id, String booking, long miles) {
    String credit = creditOf(booking);
    Bson isNew =
        withId(
            id, exists(credit, false), ne("taken_back", booking), lt("credit_count", CREDITS_MAX));
    Bson change = combine(inc("miles", miles), inc("credit_count", 1), set(credit, miles));
    if (customers.updateOne(isNew, change).getMatchedCount() == 1) {
      return Effect.DONE;
    }
    Document customer = customers.find(eq("_id", id)).first();
    if (customer == null) {
      return Effect.UNKNOWN;
    }
    if (Customer.of(customer).credits().stream().anyMatch(c -> c.booking().equals(booking))) {
      return Effect.DONE;
    }
    return isTakenBack(customer, booking) ? Effect.TAKEN_BACK : Effect.NO_ROOM;
  }

  /**
   * Takes the miles of a booking, once, and remembers it, so that a credit which comes late does
   * nothing. Says whether there is such a customer.
   */
  boolean takeBack(String id, String booking) {
    while (true) {
      Document customer = customers.find(eq("_id", id)).first();
      if (customer == null) {
        return false;
      }
      Optional<Customer.Credit> credit =
          Customer.of(customer).credits().stream()
              .filter(c -> c.booking().equals(booking))
              .findFirst();
      if (credit.isEmpty() && isTakenBack(customer, booking)) {
        return true;
      }
      // Between the look and the change another request may have done the one or the other.
      if (credit.isPresent() ? undo(id, credit.get()) : forbid(id, booking)) {
        forgetOldest(id);
        return true;
      }
    }
  }

  private boolean undo(String id, Customer.Credit credit) {
    String field = creditOf(credit.booking());
    Bson change =
        combine(
            inc("miles", -credit.miles()),
            inc("credit_count", -1),
            unset(field),
            remember(credit.booking()));
    return customers.updateOne(withId(id, eq(field, credit.miles())), change).getMatchedCount()
        == 1;
  }

  private boolean forbid(String id, String booking) {
    Bson isNeither = withId(id, exists(creditOf(booking), false), ne("taken_back", booking));
    return customers.updateOne(isNeither, remember(booking)).getMatchedCount() == 1;
  }

  private static Bson remember(String booking) {
    return push("taken_back", booking);
  }

  /** Apart from the change before it, since not every store can do both at once ($slice). */
  private void forgetOldest(String id) {
    Bson hasMore = withId(id, exists("taken_back." + TAKEN_BACK_KEPT));
    var unused = customers.updateOne(hasMore, popFirst("taken_back"));
  }

  private static boolean isTakenBack(Document customer, String booking) {
    return customer.getList("taken_back", String.class).contains(booking);
  }

  FindIterable<Document> all() {
    return customers.find();
  }
}
