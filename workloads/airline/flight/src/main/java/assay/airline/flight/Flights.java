package assay.airline.flight;

import static assay.airline.documents.Documents.withId;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Filters.ne;
import static com.mongodb.client.model.Projections.exclude;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.popFirst;
import static com.mongodb.client.model.Updates.pull;
import static com.mongodb.client.model.Updates.push;

import assay.airline.documents.Documents;
import assay.airline.effect.Effect;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoCollection;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.bson.Document;
import org.bson.conversions.Bson;

/**
 * All flights, a document each. A seat is counted down together with the entry of its booking, in
 * one change of one document, on condition that one is left and the booking has none yet.
 */
@Singleton
public class Flights {
  static final String COLLECTION = "flight";

  /** Bookings of which a flight remembers that their seat was taken back. */
  private static final int TAKEN_BACK_KEPT = 64;

  private final MongoCollection<Document> flights;

  /** What became of a seat; the miles of the flight, 0 if there is none. */
  record Seat(Effect effect, long miles) {}

  @Inject
  public Flights(Documents documents) {
    flights = documents.collection(COLLECTION);
  }

  /** Flights of a route on a day that have a seat left, the earliest first. */
  List<Flight> query(Airport from, Airport to, int day) {
    List<Flight> found = new ArrayList<>();
    // The names would do. FerretDB passes only the conditions for the route on to PostgreSQL.
    Bson ofDay =
        new Document("_id", new Document("$in", Timetable.names(from, to, day)))
            .append("from", from.name())
            .append("to", to.name());
    for (Document document : flights.find(ofDay).projection(exclude("taken", "taken_back"))) {
      Flight flight = Flight.of(document);
      if (flight.left() > 0) {
        found.add(flight);
      }
    }
    found.sort(Comparator.comparing(Flight::departs));
    return found;
  }

  /** Gives a booking a seat, once. */
  Seat take(String name, String booking) {
    Bson isNew = withId(name, gt("left", 0), ne("taken", booking), ne("taken_back", booking));
    Bson change = combine(inc("left", -1), push("taken", booking));
    boolean isTaken = flights.updateOne(isNew, change).getMatchedCount() == 1;
    // Not one findAndModify: FerretDB supports no projection in it.
    Document flight = flights.find(eq("_id", name)).first();
    if (flight == null) {
      return new Seat(Effect.UNKNOWN, 0);
    }
    long miles = flight.get("miles", Number.class).longValue();
    return new Seat(isTaken ? Effect.DONE : why(flight, booking), miles);
  }

  private static Effect why(Document flight, String booking) {
    if (flight.getList("taken", String.class).contains(booking)) {
      return Effect.DONE;
    }
    return flight.getList("taken_back", String.class).contains(booking)
        ? Effect.TAKEN_BACK
        : Effect.NO_ROOM;
  }

  /**
   * Takes the seat of a booking back, once, and remembers it, so that a request for it which comes
   * late does nothing.
   */
  void takeBack(String name, String booking) {
    Bson remember = push("taken_back", booking);
    Bson undo = combine(inc("left", 1), pull("taken", booking), remember);
    Bson isNeither = withId(name, ne("taken", booking), ne("taken_back", booking));
    // Between the two changes another request may have given it the seat.
    while (true) {
      if (flights.updateOne(withId(name, eq("taken", booking)), undo).getMatchedCount() == 1
          || flights.updateOne(isNeither, remember).getMatchedCount() == 1) {
        forgetOldest(name);
        return;
      }
      Document flight = flights.find(eq("_id", name)).first();
      if (flight == null || why(flight, booking) == Effect.TAKEN_BACK) {
        return;
      }
    }
  }

  /** Apart from the change before it, since not every store can do both at once ($slice). */
  private void forgetOldest(String name) {
    Bson hasMore = withId(name, exists("taken_back." + TAKEN_BACK_KEPT));
    var unused = flights.updateOne(hasMore, popFirst("taken_back"));
  }

  FindIterable<Document> all() {
    return flights.find();
  }
}
