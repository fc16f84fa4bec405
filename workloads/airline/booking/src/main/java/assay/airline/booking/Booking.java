package assay.airline.booking;

import assay.airline.Refused;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;
import org.bson.Document;

/**
 * One customer's booking of one or two flights. Its record is written before its first effect, a
 * seat on each flight and miles for the customer, and says which way it goes until all are done.
 *
 * @param id given by the customer: booking twice with one id books once
 * @param openedAtMs when its record was written, in milliseconds since 1970
 * @param miles of its flights; 0 until it is booked
 */
public record Booking(
    String customer, String id, List<String> flights, State state, long openedAtMs, long miles) {
  private static final int FLIGHTS_MAX = 2;
  private static final Pattern ID = Pattern.compile("[0-9a-zA-Z-]{1,40}");
  private static final Pattern FLIGHT = Pattern.compile("[0-9A-Z-]{1,40}");

  /** Which way a booking goes. */
  public enum State {
    /** Forward: its effects are being done. */
    OPEN,
    /** All effects are done. */
    BOOKED,
    /** Back: its effects are being taken back, then its record is removed. */
    UNDOING
  }

  public Booking {
    flights = List.copyOf(flights);
    if (!ID.matcher(id).matches()) {
      throw new Refused(
          Refused.Reason.INVALID, "a booking's id has 1 to 40 letters, digits and hyphens");
    }
    if (flights.isEmpty()
        || flights.size() > FLIGHTS_MAX
        || new HashSet<>(flights).size() != flights.size()
        || !flights.stream().allMatch(f -> FLIGHT.matcher(f).matches())) {
      throw new Refused(Refused.Reason.INVALID, "a booking has one or two different flights");
    }
  }

  /** What its effects are keyed by; no other booking has it. */
  public String key() {
    return customer + "." + id;
  }

  /** The same with all its effects done. */
  Booking booked(long earned) {
    return new Booking(customer, id, flights, State.BOOKED, openedAtMs, earned);
  }

  static Booking of(String customer, String id, Document stored) {
    return new Booking(
        customer,
        id,
        stored.getList("flights", String.class),
        State.valueOf(stored.getString("state")),
        stored.get("opened_at_ms", Number.class).longValue(),
        stored.get("miles", Number.class).longValue());
  }

  Document document() {
    return new Document("flights", flights)
        .append("state", state.name())
        .append("opened_at_ms", openedAtMs)
        .append("miles", miles);
  }
}
