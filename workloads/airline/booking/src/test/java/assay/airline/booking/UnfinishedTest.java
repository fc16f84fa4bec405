package assay.airline.booking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.airline.documents.TestStore;
import assay.airline.peer.PeerFailed;
import assay.airline.web.Caller;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that end before their booking does: it is brought to its end without a new start. */
class UnfinishedTest {
  /** Two seats and miles. */
  private static final int STEPS = 3;

  private final TestStore store = new TestStore();
  private final World world = new World();
  private final BookingRecords records = new BookingRecords(store.documents());
  private final Bookings bookings = new Bookings(records, world, world);
  private final Unfinished unfinished = new Unfinished(bookings, records);

  @AfterEach
  void close() {
    store.close();
  }

  private BookingResource of(String customer) {
    Caller caller =
        new Caller() {
          @Override
          public String subject() {
            return customer;
          }
        };
    return new BookingResource(bookings, unfinished, new Gate(), caller);
  }

  @Test
  void aServiceThatDoesNotAnswerIsAskedAgain() {
    for (boolean before : new boolean[] {true, false}) {
      for (int step = 0; step < STEPS; step++) {
        String name = step + (before ? "-BEFORE" : "-AFTER");
        world.failAt(step, before);
        assertThatThrownBy(() -> of("c" + name).book("b", "OUT" + name, "BACK" + name))
            .isInstanceOf(PeerFailed.class);
        requireFinished("c" + name);
      }
    }
  }

  @Test
  void aJvmWithoutMemoryLosesNoBookingAndNoCancellation() throws Exception {
    for (boolean before : new boolean[] {true, false}) {
      for (int step = 0; step < STEPS; step++) {
        String name = step + (before ? "-BEFORE" : "-AFTER");
        world.failAt(step, before, new OutOfMemoryError("planted"));
        assertThatThrownBy(() -> of("c" + name).book("b", "OUT" + name, "BACK" + name))
            .isInstanceOf(OutOfMemoryError.class);
        requireFinished("c" + name);
        assertThat(bookings.ofCustomer("c" + name)).hasSize(1);
        world.failAt(step, before, new OutOfMemoryError("planted"));
        assertThatThrownBy(() -> of("c" + name).cancelOldest(0))
            .isInstanceOf(OutOfMemoryError.class);
        requireFinished("c" + name);
        assertThat(bookings.ofCustomer("c" + name)).isEmpty();
      }
    }
  }

  @Test
  void withoutMemoryTheNextLookFindsWhatTheLastOneLeft() {
    world.failAt(1, false, new OutOfMemoryError("planted"));
    assertThatThrownBy(() -> of("c1").book("b", "OUT", "BACK"))
        .isInstanceOf(OutOfMemoryError.class);
    world.failAt(0, true, new OutOfMemoryError("planted"));
    unfinished.tryAgain();
    assertThat(records.unfinished()).hasSize(1);
    requireFinished("c1");
  }

  private void requireFinished(String customer) {
    world.failAt(Integer.MAX_VALUE, true);
    unfinished.tryAgain();
    assertThat(records.unfinished()).as(customer).isEmpty();
    world.requireExact(records.all());
  }
}
