package assay.airline.booking;

import static assay.airline.documents.Documents.withId;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.unset;

import assay.airline.booking.Booking.State;
import assay.airline.documents.Documents;
import com.mongodb.ErrorCategory;
import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoCollection;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.bson.Document;
import org.bson.conversions.Bson;

/**
 * The records of all bookings: a document for each customer, with a field for each booking. So each
 * is found by the one index that every store has.
 */
@Singleton
public class BookingRecords {
  private static final String COLLECTION = "customer";

  private final MongoCollection<Document> customers;

  @Inject
  public BookingRecords(Documents documents) {
    customers = documents.collection(COLLECTION);
  }

  /** Writes a record unless there is one with its id; says whether it did. */
  boolean open(Booking booking) {
    Bson isNew = withId(booking.customer(), exists(field(booking), false));
    while (true) {
      if (customers.updateOne(isNew, set(field(booking), booking.document())).getMatchedCount()
          == 1) {
        return true;
      }
      if (find(booking.customer(), booking.id()).isPresent()) {
        return false;
      }
      addCustomer(booking.customer());
    }
  }

  private void addCustomer(String customer) {
    try {
      customers.insertOne(new Document("_id", customer).append("bookings", new Document()));
    } catch (MongoWriteException e) {
      if (e.getError().getCategory() != ErrorCategory.DUPLICATE_KEY) {
        throw e;
      }
      // Another request added it.
    }
  }

  Optional<Booking> find(String customer, String id) {
    return ofCustomer(customer).stream().filter(b -> b.id().equals(id)).findFirst();
  }

  /** The oldest first. */
  List<Booking> ofCustomer(String customer) {
    Document document = customers.find(eq("_id", customer)).first();
    return document == null ? List.of() : bookings(document);
  }

  /** From open to booked, with the miles that it brought; says whether it was open. */
  boolean booked(Booking booking, long miles) {
    Bson change =
        combine(
            set(field(booking) + ".state", State.BOOKED.name()),
            set(field(booking) + ".miles", miles));
    return customers.updateOne(is(booking, State.OPEN), change).getMatchedCount() == 1;
  }

  /** From a state to the way back; says whether it was in that state. */
  boolean undoing(Booking booking, State from) {
    Bson change = set(field(booking) + ".state", State.UNDOING.name());
    return customers.updateOne(is(booking, from), change).getMatchedCount() == 1;
  }

  /** Removes the record of a booking on its way back. */
  void remove(Booking booking) {
    // Whoever else took the booking back may have removed it.
    var unused = customers.updateOne(is(booking, State.UNDOING), unset(field(booking)));
  }

  List<Booking> all() {
    List<Booking> all = new ArrayList<>();
    for (Document document : customers.find()) {
      all.addAll(bookings(document));
    }
    return all;
  }

  List<Booking> unfinished() {
    return all().stream().filter(b -> b.state() != State.BOOKED).toList();
  }

  private static String field(Booking booking) {
    return "bookings." + booking.id();
  }

  private static Bson is(Booking booking, State state) {
    return withId(booking.customer(), eq(field(booking) + ".state", state.name()));
  }

  private static List<Booking> bookings(Document document) {
    Document stored = document.get("bookings", Document.class);
    return stored.keySet().stream()
        .map(id -> Booking.of(document.getString("_id"), id, stored.get(id, Document.class)))
        .sorted(Comparator.comparingLong(Booking::openedAtMs).thenComparing(Booking::id))
        .toList();
  }
}
