package assay.airline.main.audit;

import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import java.util.List;

/** What the services say they have, at one quiet instant. */
record Ledgers(
    List<Booking> bookings,
    List<Flight> flights,
    long flightCount,
    long flightsExpected,
    List<Customer> customers,
    long customerCount) {

  /** A booking's record. */
  record Booking(
      String customer, String id, String key, String state, List<String> flights, long miles) {}

  /** A flight that is not empty; {@code taken} has the keys of bookings. */
  record Flight(String name, long miles, int seats, int left, List<String> taken) {}

  /** A customer who has miles or credits. */
  record Customer(String id, long miles, List<Credit> credits) {}

  /** The miles of a booking. */
  record Credit(String booking, long miles) {}

  static Ledgers of(JsonObject booking, JsonObject flight, JsonObject customer) {
    return new Ledgers(
        booking.getJsonArray("bookings").getValuesAs(JsonObject.class).stream()
            .map(Ledgers::bookingOf)
            .toList(),
        flight.getJsonArray("flights").getValuesAs(JsonObject.class).stream()
            .map(Ledgers::flightOf)
            .toList(),
        number(flight, "count"),
        number(flight, "expected"),
        customer.getJsonArray("customers").getValuesAs(JsonObject.class).stream()
            .map(Ledgers::customerOf)
            .toList(),
        number(customer, "count"));
  }

  private static Booking bookingOf(JsonObject json) {
    return new Booking(
        json.getString("customer"),
        json.getString("id"),
        json.getString("key"),
        json.getString("state"),
        texts(json, "flights"),
        number(json, "miles"));
  }

  private static Flight flightOf(JsonObject json) {
    return new Flight(
        json.getString("name"),
        number(json, "miles"),
        json.getInt("seats"),
        json.getInt("left"),
        texts(json, "taken"));
  }

  private static Customer customerOf(JsonObject json) {
    return new Customer(
        json.getString("id"),
        number(json, "miles"),
        json.getJsonArray("credits").getValuesAs(JsonObject.class).stream()
            .map(c -> new Credit(c.getString("booking"), number(c, "miles")))
            .toList());
  }

  private static List<String> texts(JsonObject json, String key) {
    return json.getJsonArray(key).getValuesAs(JsonString.class).stream()
        .map(JsonString::getString)
        .toList();
  }

  private static long number(JsonObject json, String key) {
    return json.getJsonNumber(key).longValue();
  }
}
