package assay.airline.customer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.airline.Refused;
import assay.airline.documents.TestStore;
import assay.airline.effect.Effect;
import assay.airline.settings.Settings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CustomersTest {
  private final TestStore store = new TestStore();
  private final Customers customers = new Customers(store.documents());

  @BeforeEach
  void load() {
    CustomerStart.load(store.documents(), new Settings(Map.of("AIRLINE_DATA", "small")));
  }

  @AfterEach
  void close() {
    store.close();
  }

  private Customer customer() {
    return customers.find("c7").orElseThrow();
  }

  @Test
  void aPasswordIsRightForItsCustomerAlone() {
    assertThat(customers.isPassword("c7", "fly")).isTrue();
    assertThat(customers.isPassword("c7", "walk")).isFalse();
    assertThat(customers.isPassword("nobody", "fly")).isFalse();
  }

  @Test
  void aProfileIsChangedAndNothingElse() {
    assertThat(customers.credit("c7", "b1", 100)).isEqualTo(Effect.DONE);
    assertThat(customers.update("c7", new Profile("A", "B", "C", "D"))).isTrue();
    assertThat(customer().profile()).isEqualTo(new Profile("A", "B", "C", "D"));
    assertThat(customer().miles()).isEqualTo(100);
    assertThatThrownBy(() -> new Profile("A", "B", " ", "D")).isInstanceOf(Refused.class);
  }

  @Test
  void aCreditThatIsRepeatedGivesItsMilesOnce() {
    for (int i = 0; i < 3; i++) {
      assertThat(customers.credit("c7", "b1", 100)).isEqualTo(Effect.DONE);
    }
    assertThat(customers.credit("c7", "c7.b-2", 50)).isEqualTo(Effect.DONE);
    assertThat(customer().miles()).isEqualTo(150);
    assertThat(customer().credits())
        .containsExactlyInAnyOrder(
            new Customer.Credit("b1", 100), new Customer.Credit("c7.b-2", 50));
    assertThat(customers.credit("nobody", "b1", 100)).isEqualTo(Effect.UNKNOWN);
  }

  @Test
  void aCreditThatWasTakenBackIsNotGivenAgain() {
    assertThat(customers.credit("c7", "b1", 100)).isEqualTo(Effect.DONE);
    assertThat(customers.takeBack("c7", "b1")).isTrue();
    assertThat(customers.takeBack("c7", "b1")).isTrue();
    assertThat(customers.credit("c7", "b1", 100)).isEqualTo(Effect.TAKEN_BACK);
    // One that never came, and comes after it was taken back.
    assertThat(customers.takeBack("c7", "b2")).isTrue();
    assertThat(customers.credit("c7", "b2", 100)).isEqualTo(Effect.TAKEN_BACK);
    assertThat(customer().miles()).isZero();
    assertThat(customer().credits()).isEmpty();
    assertThat(customers.takeBack("nobody", "b1")).isFalse();
  }

  @Test
  void theNumberOfBookingsIsBounded() {
    for (int i = 0; i < Customers.CREDITS_MAX; i++) {
      assertThat(customers.credit("c7", "b" + i, 1)).isEqualTo(Effect.DONE);
    }
    assertThat(customers.credit("c7", "more", 1)).isEqualTo(Effect.NO_ROOM);
    assertThat(customers.credit("c7", "b3", 1)).isEqualTo(Effect.DONE);
    assertThat(customers.takeBack("c7", "b3")).isTrue();
    assertThat(customers.credit("c7", "more", 1)).isEqualTo(Effect.DONE);
    assertThat(customer().miles()).isEqualTo(Customers.CREDITS_MAX);
  }

  @Test
  void requestsThatMeetAtACustomerLoseNoMiles() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      Callable<Effect> same = () -> customers.credit("c7", "same", 1_000);
      List<Callable<Effect>> all = new ArrayList<>(Collections.nCopies(8, same));
      IntStream.range(0, 16).forEach(i -> all.add(() -> customers.credit("c7", "b" + i, 1)));
      for (var done : threads.invokeAll(all)) {
        assertThat(done.get()).isEqualTo(Effect.DONE);
      }
      List<Callable<Boolean>> back =
          IntStream.range(0, 16)
              .<Callable<Boolean>>mapToObj(i -> () -> customers.takeBack("c7", "b" + i % 8))
              .toList();
      for (var done : threads.invokeAll(back)) {
        assertThat(done.get()).isTrue();
      }
    } finally {
      threads.shutdown();
    }
    assertThat(customer().miles()).isEqualTo(1_008);
    assertThat(customer().credits()).hasSize(9);
  }
}
