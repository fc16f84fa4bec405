package assay.airline.booking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import assay.airline.Refused;
import assay.airline.documents.TestStore;
import assay.airline.peer.PeerFailed;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BookingsTest {
  /** More than any way has. */
  private static final int STEPS_MAX = 12;

  private final TestStore store = new TestStore();
  private final World world = new World();
  private final BookingRecords records = new BookingRecords(store.documents());
  private final Bookings bookings = new Bookings(records, world, world);

  @AfterEach
  void close() {
    store.close();
  }

  private Booking book(String customer, String id, String... flights) throws PeerFailed {
    return bookings.finish(bookings.open(customer, id, List.of(flights)));
  }

  /** As a start does after a kill. */
  private int recover() throws PeerFailed {
    return new Unfinished(bookings, records).recover();
  }

  @Test
  void aBookingHasItsSeatsAndMilesHoweverOftenItIsAskedFor() throws Exception {
    Booking booked = book("c1", "b1", "OUT", "BACK");
    assertThat(booked.miles()).isEqualTo(200);
    assertThat(book("c1", "b1", "OUT", "BACK")).isEqualTo(booked);
    assertThat(bookings.ofCustomer("c1")).containsExactly(booked);
    assertThatThrownBy(() -> book("c1", "b1", "OTHER"))
        .isInstanceOf(Refused.class)
        .hasMessageContaining("another booking has this id");
    // The same id of another customer is another booking.
    assertThat(book("c2", "b1", "OUT").customer()).isEqualTo("c2");
    world.requireExact(records.all());
  }

  @Test
  void aBookingThatCannotBeCompletedLeavesNothing() throws Exception {
    for (int i = 0; i < World.SEATS; i++) {
      Booking unused = book("c" + i, "b", "FULL");
    }
    assertThatThrownBy(() -> book("c9", "b", "OUT", "FULL"))
        .hasMessageContaining("FULL has no room");
    assertThatThrownBy(() -> book("c9", "b2", "OUT", "NONE")).hasMessageContaining("is unknown");
    assertThat(world.seats("OUT")).isEmpty();
    assertThat(book("c8", "b", "A").miles() + book("c8", "b1", "A").miles()).isEqualTo(200);
    assertThatThrownBy(() -> book("c8", "b2", "A")).hasMessageContaining("c8 has no room");
    world.requireExact(records.all());
  }

  @Test
  void theOldestBeyondThoseKeptIsCancelled() throws Exception {
    Booking first = book("c1", "b1", "OUT");
    Booking second = book("c1", "b2", "OUT");
    assertThat(bookings.cancelOldest("c1", 2)).isEmpty();
    Booking cancelled = bookings.cancelOldest("c1", 1).orElseThrow();
    bookings.undo(cancelled);
    assertThat(cancelled.id()).isIn(first.id(), second.id());
    assertThat(bookings.ofCustomer("c1")).hasSize(1);
    assertThat(bookings.cancel("c1", cancelled.id())).isEmpty();
    world.requireExact(records.all());
  }

  @Test
  void whereverABookingIsKilledTheNextStartCompletesIt() throws Exception {
    int kills = 0;
    for (boolean before : new boolean[] {true, false}) {
      for (int step = 0; step < STEPS_MAX; step++) {
        String id = "b" + before + step;
        String customer = "c" + before + step;
        world.failAt(step, before);
        try {
          Booking unused =
              book(customer, id, flight("OUT", step, before), flight("BACK", step, before));
        } catch (PeerFailed e) {
          kills++;
        }
        world.failAt(Integer.MAX_VALUE, true);
        int unused = recover();
        world.requireExact(records.all());
        assertThat(records.find(customer, id)).isPresent();
      }
    }
    assertThat(kills).as("two seats and miles, before and after each").isEqualTo(6);
  }

  @Test
  void whereverACancellationOrARefusalIsKilledTheNextStartTakesAllBack() throws Exception {
    int kills = 0;
    for (boolean before : new boolean[] {true, false}) {
      for (int step = 0; step < STEPS_MAX; step++) {
        String customer = "c" + before + step;
        Booking booked = book(customer, "b", flight("X", step, before), flight("Y", step, before));
        Booking turned = bookings.cancel(customer, booked.id()).orElseThrow();
        kills += killed(step, before, () -> bookings.undo(turned));
        kills += killed(step, before, () -> fail(book(customer, "b2", "OUT", "NONE").id()));
        assertThat(records.ofCustomer(customer)).isEmpty();
        world.requireExact(records.all());
      }
    }
    // Of the cancellation two seats and miles; of the refusal the same after two that took them.
    assertThat(kills).isEqualTo(2 * 3 + 2 * 5);
  }

  /** One of its own for each case: there are few seats. */
  private static String flight(String name, int step, boolean before) {
    return name + "-" + step + "-" + (before ? "BEFORE" : "AFTER");
  }

  private interface Work {
    void run() throws PeerFailed;
  }

  private int killed(int step, boolean before, Work work) throws PeerFailed {
    world.failAt(step, before);
    int kills = 0;
    try {
      work.run();
    } catch (PeerFailed e) {
      kills = 1;
    } catch (Refused e) {
      // It was not killed.
    }
    world.failAt(Integer.MAX_VALUE, true);
    int unused = recover();
    return kills;
  }

  @Test
  void aRequestThatIsLateDoesNotBookWhatWasTakenBack() throws Exception {
    Booking opened = bookings.open("c1", "b1", List.of("OUT"));
    Booking booked = bookings.finish(opened);
    bookings.undo(bookings.cancel("c1", booked.id()).orElseThrow());
    // An executor of the same booking that stood still meanwhile.
    assertThatThrownBy(() -> bookings.finish(opened)).isInstanceOf(Refused.class);
    // And the customer's own repetition.
    assertThatThrownBy(() -> book("c1", "b1", "OUT")).isInstanceOf(Refused.class);
    assertThat(world.seats("OUT")).isEmpty();
    world.requireExact(records.all());
  }

  @Test
  void manyExecutorsOfTheSameBookingsDoEachOnce() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Callable<Boolean>> all = new ArrayList<>();
      for (int i = 0; i < 240; i++) {
        String customer = "c" + i % 4;
        String id = "b" + i % 12;
        boolean cancels = i % 3 == 0;
        all.add(() -> cancels ? cancelled(customer, id) : booked(customer, id));
        all.add(() -> 0 <= recover());
      }
      for (Future<Boolean> done : threads.invokeAll(all)) {
        assertThat(done.get()).isNotNull();
      }
    } finally {
      threads.shutdown();
    }
    assertThat(recover()).isZero();
    world.requireExact(records.all());
  }

  private boolean booked(String customer, String id) throws PeerFailed {
    try {
      return book(customer, id, "OUT", "BACK").miles() > 0;
    } catch (Refused e) {
      return false;
    }
  }

  private boolean cancelled(String customer, String id) throws PeerFailed {
    var turned = bookings.cancel(customer, id);
    if (turned.isPresent()) {
      bookings.undo(turned.get());
    }
    return turned.isPresent();
  }

  @Test
  void wrongIdsAndFlightsAreRefusedBeforeAnythingIsWritten() {
    for (String id : new String[] {"", "a.b", "$x", "x".repeat(41)}) {
      assertThatThrownBy(() -> book("c1", id, "OUT")).isInstanceOf(Refused.class);
    }
    assertThatThrownBy(() -> book("c1", "b", "OUT", "OUT")).isInstanceOf(Refused.class);
    assertThatThrownBy(() -> book("c1", "b", "../x")).isInstanceOf(Refused.class);
    assertThatThrownBy(() -> book("c1", "b")).isInstanceOf(Refused.class);
    assertThat(records.all()).isEmpty();
  }
}
