package assay.airline.booking;

import assay.airline.Refused;
import assay.airline.booking.Booking.State;
import assay.airline.effect.Effect;
import assay.airline.peer.PeerFailed;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/**
 * Books and cancels over three services without a transaction. Two rules make that exact whenever a
 * process is killed:
 *
 * <ul>
 *   <li>The record says which way a booking goes before the first effect is done or taken back, and
 *       it changes its way on condition of the state that it had.
 *   <li>Each effect is keyed by the booking; doing it twice does it once, and one that was taken
 *       back is never done again. So whoever finds an unfinished record may finish it, alone or
 *       beside others, and a request that was on its way when its sender died does no harm.
 * </ul>
 */
@Singleton
public class Bookings {
  private final BookingRecords records;
  private final Seats seats;
  private final Miles miles;
  private final Clock clock;

  @Inject
  public Bookings(BookingRecords records, Seats seats, Miles miles) {
    this(records, seats, miles, Clock.systemUTC());
  }

  Bookings(BookingRecords records, Seats seats, Miles miles, Clock clock) {
    this.records = records;
    this.seats = seats;
    this.miles = miles;
    this.clock = clock;
  }

  /** Writes the record of a booking, or finds the one that has its id; see {@link #finish}. */
  Booking open(String customer, String id, List<String> flights) {
    Booking booking = new Booking(customer, id, flights, State.OPEN, clock.millis(), 0);
    if (records.open(booking)) {
      return booking;
    }
    Booking earlier = records.find(customer, id).orElseThrow(Bookings::gone);
    if (!earlier.flights().equals(flights)) {
      throw new Refused(Refused.Reason.CONFLICT, "another booking has this id");
    }
    return earlier;
  }

  /**
   * Goes the way to its end: a booking that is booked, or a refusal if it was or is taken back.
   *
   * @throws PeerFailed if another service does not answer; then the record stays, and this must be
   *     called again
   */
  Booking finish(Booking booking) throws PeerFailed {
    return switch (booking.state()) {
      case BOOKED -> booking;
      case OPEN -> forward(booking);
      case UNDOING -> {
        back(booking);
        throw gone();
      }
    };
  }

  private Booking forward(Booking booking) throws PeerFailed {
    long sum = 0;
    for (String flight : booking.flights()) {
      Seats.Seat seat = seats.take(flight, booking.key());
      if (seat.effect() != Effect.DONE) {
        return turn(booking, "flight " + flight, seat.effect());
      }
      sum += seat.miles();
    }
    Effect credited = miles.credit(booking.customer(), booking.id(), sum);
    if (credited != Effect.DONE) {
      return turn(booking, "customer " + booking.customer(), credited);
    }
    // If it was not open any more, someone else brought it to its end or turned it.
    return records.booked(booking, sum) ? booking.booked(sum) : finish(again(booking));
  }

  /** Turns a booking that cannot be completed, unless somebody did complete it. */
  private Booking turn(Booking booking, String what, Effect why) throws PeerFailed {
    if (!records.undoing(booking, State.OPEN)) {
      return finish(again(booking));
    }
    back(booking);
    throw switch (why) {
      case NO_ROOM -> new Refused(Refused.Reason.CONFLICT, what + " has no room");
      case UNKNOWN -> new Refused(Refused.Reason.NOT_FOUND, what + " is unknown");
      case TAKEN_BACK, DONE -> gone();
    };
  }

  private Booking again(Booking booking) {
    return records.find(booking.customer(), booking.id()).orElseThrow(Bookings::gone);
  }

  private void back(Booking booking) throws PeerFailed {
    for (String flight : booking.flights()) {
      seats.takeBack(flight, booking.key());
    }
    miles.takeBack(booking.customer(), booking.id());
    records.remove(booking);
  }

  private static Refused gone() {
    return new Refused(Refused.Reason.CONFLICT, "the booking was taken back");
  }

  /**
   * The oldest booking beyond the {@code kept} newest, turned to its way back; then {@link #undo}.
   */
  Optional<Booking> cancelOldest(String customer, int kept) {
    List<Booking> booked =
        records.ofCustomer(customer).stream().filter(b -> b.state() == State.BOOKED).toList();
    // The next one if somebody else cancels the oldest at the same time.
    return booked.stream()
        .limit(Math.max(0, booked.size() - kept))
        .filter(b -> records.undoing(b, State.BOOKED))
        .findFirst();
  }

  /** One booking, turned to its way back; then {@link #undo}. */
  Optional<Booking> cancel(String customer, String id) {
    return records
        .find(customer, id)
        .filter(b -> b.state() == State.BOOKED)
        .filter(b -> records.undoing(b, State.BOOKED));
  }

  /** Takes back all that a cancelled booking did. Like {@link #finish}, to be called again. */
  void undo(Booking booking) throws PeerFailed {
    back(booking);
  }

  List<Booking> ofCustomer(String customer) {
    return records.ofCustomer(customer).stream().filter(b -> b.state() == State.BOOKED).toList();
  }
}
