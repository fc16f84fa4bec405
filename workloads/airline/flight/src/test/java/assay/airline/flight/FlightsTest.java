package assay.airline.flight;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.StreamSupport.stream;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.airline.Refused;
import assay.airline.documents.TestStore;
import assay.airline.effect.Effect;
import assay.airline.settings.Settings;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FlightsTest {
  private static final String NAME = "AMS-JFK-3-1";

  private final TestStore store = new TestStore();
  private final Flights flights = new Flights(store.documents());

  @BeforeEach
  void load() {
    FlightStart.load(store.documents(), new Settings(Map.of("AIRLINE_DATA", "small")));
  }

  @AfterEach
  void close() {
    store.close();
  }

  private Flight flight(String name) {
    for (var document : flights.all()) {
      if (name.equals(document.getString("_id"))) {
        return Flight.of(document);
      }
    }
    throw new AssertionError("no flight " + name);
  }

  @Test
  void everyRouteHasFlightsOnEveryDayOutAndBack() {
    Map<String, Long> byDay =
        stream(flights.all().spliterator(), false)
            .map(Flight::of)
            .peek(flight -> assertThat(flight.left()).isEqualTo(120))
            .peek(flight -> assertThat(flight.miles()).isPositive())
            .collect(groupingBy(f -> f.from() + f.to() + f.departs().substring(0, 10), counting()));
    int routes = Airport.values().length * (Airport.values().length - 1);
    assertThat(byDay).hasSize(routes * Timetable.DAYS);
    assertThat(byDay.values()).containsOnly((long) Timetable.FLIGHTS_A_DAY);
  }

  /** Each route on some day, and each day on some routes: the store in memory searches all. */
  @Test
  void aQueryFindsTheFlightsOfItsRouteAndDay() {
    int day = 0;
    for (Airport from : Airport.values()) {
      for (Airport to : Airport.values()) {
        if (from != to) {
          List<Flight> found = flights.query(from, to, day);
          String start = from + "-" + to + "-" + day + "-";
          assertThat(found).hasSize(Timetable.FLIGHTS_A_DAY);
          assertThat(found).allMatch(f -> f.name().startsWith(start));
          assertThat(found).allMatch(f -> f.left() == 120 && f.miles() > 0);
          day = (day + 1) % Timetable.DAYS;
        }
      }
    }
  }

  @Test
  void milesAreThoseOfTheGreatCircleBothWays() {
    // 3,630 statute miles by published tables; the coordinates here are rounded.
    assertThat(Airport.AMS.milesTo(Airport.JFK)).isBetween(3_610L, 3_650L);
    assertThat(Airport.SYD.milesTo(Airport.YVR)).isEqualTo(Airport.YVR.milesTo(Airport.SYD));
  }

  @Test
  void datesCountFromAFixedDay() {
    Flight flight = flights.query(Airport.AMS, Airport.JFK, 3).get(0);
    assertThat(flight.name()).isEqualTo(NAME);
    assertThat(flight.departs()).isEqualTo("2030-01-10T08:15");
    assertThatThrownBy(() -> flights.query(Airport.AMS, Airport.JFK, Timetable.DAYS))
        .isInstanceOf(Refused.class);
    assertThatThrownBy(() -> Airport.named("XXX")).isInstanceOf(Refused.class);
  }

  @Test
  void aSeatIsGivenOnceAndTakenBackOnce() {
    for (int i = 0; i < 3; i++) {
      Flights.Seat seat = flights.take(NAME, "c1.b1");
      assertThat(seat.effect()).isEqualTo(Effect.DONE);
      assertThat(seat.miles()).isEqualTo(flight(NAME).miles());
    }
    assertThat(flight(NAME).left()).isEqualTo(119);
    assertThat(flight(NAME).taken()).containsExactly("c1.b1");
    flights.takeBack(NAME, "c1.b1");
    flights.takeBack(NAME, "c1.b1");
    assertThat(flight(NAME).left()).isEqualTo(120);
    assertThat(flight(NAME).taken()).isEmpty();
    assertThat(flights.take("none", "c1.b1").effect()).isEqualTo(Effect.UNKNOWN);
    flights.takeBack("none", "c1.b1");
  }

  @Test
  void aRequestThatComesAfterItsSeatWasTakenBackGetsNone() {
    flights.takeBack(NAME, "c1.b1");
    assertThat(flights.take(NAME, "c1.b1").effect()).isEqualTo(Effect.TAKEN_BACK);
    assertThat(flight(NAME).left()).isEqualTo(120);
    // It remembers a bounded number of them.
    IntStream.range(0, 200).forEach(i -> flights.takeBack(NAME, "c2.b" + i));
    assertThat(flights.take(NAME, "c2.b199").effect()).isEqualTo(Effect.TAKEN_BACK);
    assertThat(flights.take(NAME, "c1.b1").effect()).isEqualTo(Effect.DONE);
  }

  @Test
  void manyAtOnceSellEachSeatOnceAndNoMoreThanThereAre() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Callable<Effect>> all =
          IntStream.range(0, 400)
              .<Callable<Effect>>mapToObj(i -> () -> flights.take(NAME, "c.b" + i % 200).effect())
              .toList();
      long sold = 0;
      for (var done : threads.invokeAll(all)) {
        assertThat(done.get()).isIn(Effect.DONE, Effect.NO_ROOM);
        sold += done.get() == Effect.DONE ? 1 : 0;
      }
      // Each that got a seat asked twice; it was told so twice, unless it had none the first time.
      assertThat(sold).isBetween(120L, 240L);
    } finally {
      threads.shutdown();
    }
    assertThat(flight(NAME).left()).isZero();
    assertThat(flight(NAME).taken()).hasSize(120).doesNotHaveDuplicates();
    assertThat(flights.query(Airport.AMS, Airport.JFK, 3)).hasSize(1);
  }
}
