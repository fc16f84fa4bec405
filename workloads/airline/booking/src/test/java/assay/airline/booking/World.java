package assay.airline.booking;

import static org.assertj.core.api.Assertions.assertThat;

import assay.airline.effect.Effect;
import assay.airline.peer.PeerFailed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The other two services as a test has them: one flight with few seats, customers with few
 * bookings, and a failure at a step that the test chooses, before its effect or after it.
 */
final class World implements Seats, Miles {
  static final int SEATS = 3;
  private static final int CREDITS_MAX = 2;
  private static final long MILES = 100;

  private final Map<String, Set<String>> taken = new HashMap<>();
  private final Map<String, Map<String, Long>> credits = new HashMap<>();
  private final Set<String> takenBack = new HashSet<>();
  private int steps;
  private int failsAt = Integer.MAX_VALUE;
  private boolean failsBeforeEffect;
  private Optional<Error> error = Optional.empty();

  /** The step that fails, once, counted from now on from 0: the other service does not answer. */
  void failAt(int step, boolean beforeEffect) {
    steps = 0;
    failsAt = step;
    failsBeforeEffect = beforeEffect;
    error = Optional.empty();
  }

  /** The same with an error of the booking service's own. */
  void failAt(int step, boolean beforeEffect, Error with) {
    failAt(step, beforeEffect);
    error = Optional.of(with);
  }

  boolean hasFailed() {
    return steps > failsAt;
  }

  private interface Step<T> {
    T run();
  }

  private synchronized <T> T step(Step<T> effect) throws PeerFailed {
    boolean fails = steps++ == failsAt;
    if (fails && failsBeforeEffect) {
      throw failure("before the effect");
    }
    T result = effect.run();
    if (fails) {
      throw failure("after the effect");
    }
    return result;
  }

  private PeerFailed failure(String when) {
    if (error.isPresent()) {
      throw error.get();
    }
    return new PeerFailed("killed " + when);
  }

  @Override
  public Seat take(String flight, String booking) throws PeerFailed {
    return step(
        () -> {
          Set<String> seats = taken.computeIfAbsent(flight, f -> new HashSet<>());
          if (flight.equals("NONE")) {
            return new Seat(Effect.UNKNOWN, 0);
          } else if (seats.contains(booking)) {
            return new Seat(Effect.DONE, MILES);
          } else if (takenBack.contains(flight + booking)) {
            return new Seat(Effect.TAKEN_BACK, MILES);
          } else if (seats.size() == SEATS) {
            return new Seat(Effect.NO_ROOM, MILES);
          }
          seats.add(booking);
          return new Seat(Effect.DONE, MILES);
        });
  }

  @Override
  public Effect credit(String customer, String booking, long miles) throws PeerFailed {
    return step(
        () -> {
          Map<String, Long> own = credits.computeIfAbsent(customer, c -> new HashMap<>());
          if (own.containsKey(booking)) {
            return Effect.DONE;
          } else if (takenBack.contains(customer + booking)) {
            return Effect.TAKEN_BACK;
          } else if (own.size() == CREDITS_MAX) {
            return Effect.NO_ROOM;
          }
          own.put(booking, miles);
          return Effect.DONE;
        });
  }

  @Override
  public void takeBack(String of, String booking) throws PeerFailed {
    Boolean unused =
        step(
            () -> {
              taken.getOrDefault(of, new HashSet<>()).remove(booking);
              credits.getOrDefault(of, new HashMap<>()).remove(booking);
              return takenBack.add(of + booking);
            });
  }

  /** Seats and miles are those of the booked records, and no record is on its way. */
  void requireExact(List<Booking> records) {
    Map<String, Set<String>> seats = new HashMap<>();
    Map<String, Map<String, Long>> miles = new HashMap<>();
    for (Booking booking : records) {
      assertThat(booking.state()).isEqualTo(Booking.State.BOOKED);
      for (String flight : booking.flights()) {
        seats.computeIfAbsent(flight, f -> new HashSet<>()).add(booking.key());
      }
      assertThat(booking.miles()).isEqualTo(MILES * booking.flights().size());
      miles
          .computeIfAbsent(booking.customer(), c -> new HashMap<>())
          .put(booking.id(), booking.miles());
    }
    assertThat(filled(taken)).isEqualTo(seats);
    Map<String, Map<String, Long>> credited = new HashMap<>(credits);
    credited.values().removeIf(Map::isEmpty);
    assertThat(credited).isEqualTo(miles);
  }

  private static Map<String, Set<String>> filled(Map<String, Set<String>> all) {
    Map<String, Set<String>> filled = new HashMap<>(all);
    filled.values().removeIf(Set::isEmpty);
    return filled;
  }

  List<String> seats(String flight) {
    return new ArrayList<>(taken.getOrDefault(flight, Set.of()));
  }
}
