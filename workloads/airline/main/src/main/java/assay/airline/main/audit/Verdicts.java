package assay.airline.main.audit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What must hold of the ledgers of all services together. It knows no code of those it audits. */
final class Verdicts {
  private static final int OFFENDERS_SHOWN_MAX = 5;

  /** Invariants in their order, with the first few violations of each. */
  private final Map<String, List<String>> offenders = new LinkedHashMap<>();

  private final Ledgers ledgers;
  private final Map<String, Ledgers.Booking> bookings = new HashMap<>();
  private final Map<String, Ledgers.Flight> flights = new HashMap<>();

  private Verdicts(Ledgers ledgers) {
    this.ledgers = ledgers;
    ledgers.bookings().forEach(b -> bookings.put(b.key(), b));
    ledgers.flights().forEach(f -> flights.put(f.name(), f));
  }

  static Map<String, List<String>> of(Ledgers ledgers, long customersExpected) {
    Verdicts verdicts = new Verdicts(ledgers);
    verdicts.begin();
    verdicts.checkCounts(customersExpected);
    verdicts.checkBookings();
    verdicts.checkFlights();
    verdicts.checkCustomers();
    return verdicts.offenders;
  }

  private void begin() {
    for (String invariant :
        List.of(
            "customers_are_those_of_the_data_set",
            "flights_are_those_of_the_data_set",
            "no_booking_is_unfinished",
            "no_booking_is_recorded_twice",
            "each_booking_has_its_seats",
            "each_booking_has_its_miles",
            "seats_taken_and_left_are_all_seats",
            "no_booking_has_two_seats_on_a_flight",
            "each_seat_taken_has_its_booking",
            "each_credit_has_its_booking",
            "no_booking_is_credited_twice",
            "miles_of_each_customer_are_those_of_the_bookings")) {
      offenders.put(invariant, new ArrayList<>());
    }
  }

  private void require(boolean holds, String invariant, String offender) {
    List<String> list = offenders.get(invariant);
    if (!holds && list.size() < OFFENDERS_SHOWN_MAX) {
      list.add(offender);
    }
  }

  private void checkCounts(long customersExpected) {
    require(
        ledgers.customerCount() == customersExpected,
        "customers_are_those_of_the_data_set",
        ledgers.customerCount() + " instead of " + customersExpected);
    require(
        ledgers.flightCount() == ledgers.flightsExpected(),
        "flights_are_those_of_the_data_set",
        ledgers.flightCount() + " instead of " + ledgers.flightsExpected());
  }

  private void checkBookings() {
    Map<String, Set<String>> seats = new HashMap<>();
    ledgers.flights().forEach(f -> seats.put(f.name(), new HashSet<>(f.taken())));
    Map<String, Long> miles = new HashMap<>();
    for (Ledgers.Customer customer : ledgers.customers()) {
      customer.credits().forEach(c -> miles.put(customer.id() + "\n" + c.booking(), c.miles()));
    }
    Set<String> seen = new HashSet<>();
    for (Ledgers.Booking booking : ledgers.bookings()) {
      require(seen.add(booking.key()), "no_booking_is_recorded_twice", booking.key());
      boolean isBooked = booking.state().equals("BOOKED");
      require(isBooked, "no_booking_is_unfinished", booking.key() + " is " + booking.state());
      if (isBooked) {
        for (String flight : booking.flights()) {
          require(
              seats.getOrDefault(flight, Set.of()).contains(booking.key()),
              "each_booking_has_its_seats",
              booking.key() + " on " + flight);
        }
        checkMiles(booking, miles.get(booking.customer() + "\n" + booking.id()));
      }
    }
  }

  private void checkMiles(Ledgers.Booking booking, Long credited) {
    long flown = 0;
    for (String flight : booking.flights()) {
      flown += flights.containsKey(flight) ? flights.get(flight).miles() : 0;
    }
    require(
        credited != null && credited == booking.miles() && booking.miles() == flown,
        "each_booking_has_its_miles",
        booking.key()
            + " has "
            + booking.miles()
            + ", its flights "
            + flown
            + ", its customer "
            + (credited == null ? "none" : credited));
  }

  private void checkFlights() {
    for (Ledgers.Flight flight : ledgers.flights()) {
      require(
          flight.left() >= 0 && flight.taken().size() + flight.left() == flight.seats(),
          "seats_taken_and_left_are_all_seats",
          flight.name()
              + " has "
              + flight.taken().size()
              + " taken, "
              + flight.left()
              + " left, "
              + flight.seats()
              + " in all");
      Set<String> seen = new HashSet<>();
      for (String key : flight.taken()) {
        require(
            seen.add(key), "no_booking_has_two_seats_on_a_flight", key + " on " + flight.name());
        Ledgers.Booking booking = bookings.get(key);
        require(
            booking != null && booking.flights().contains(flight.name()),
            "each_seat_taken_has_its_booking",
            key + " on " + flight.name());
      }
    }
  }

  private void checkCustomers() {
    for (Ledgers.Customer customer : ledgers.customers()) {
      Set<String> seen = new HashSet<>();
      long sum = 0;
      for (Ledgers.Credit credit : customer.credits()) {
        sum += credit.miles();
        String what = credit.booking() + " of " + customer.id();
        require(seen.add(credit.booking()), "no_booking_is_credited_twice", what);
        require(
            bookings.containsKey(customer.id() + "." + credit.booking()),
            "each_credit_has_its_booking",
            what);
      }
      require(
          customer.miles() == sum,
          "miles_of_each_customer_are_those_of_the_bookings",
          customer.id() + " has " + customer.miles() + ", the bookings " + sum);
    }
  }
}
