package assay.airline.main.audit;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.StringReader;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tampers with one ledger at a time and expects the invariants that must notice, and no other. */
class VerdictsTest {
  private static final String BOOKING =
      """
      {"bookings":[
        {"customer":"c1","id":"b1","key":"c1.b1","state":"BOOKED","flights":["F1","F2"],"miles":300},
        {"customer":"c2","id":"b2","key":"c2.b2","state":"BOOKED","flights":["F1"],"miles":100}]}
      """;
  private static final String FLIGHT =
      """
      {"count":9,"expected":9,"flights":[
        {"name":"F1","miles":100,"seats":5,"left":3,"taken":["c1.b1","c2.b2"]},
        {"name":"F2","miles":200,"seats":5,"left":4,"taken":["c1.b1"]}]}
      """;
  private static final String CUSTOMER =
      """
      {"count":7,"customers":[
        {"id":"c1","miles":300,"credits":[{"booking":"b1","miles":300}]},
        {"id":"c2","miles":100,"credits":[{"booking":"b2","miles":100}]}]}
      """;

  private static JsonObject json(String text) {
    try (var reader = Json.createReader(new StringReader(text))) {
      return reader.readObject();
    }
  }

  private static List<String> failed(String booking, String flight, String customer) {
    var verdicts = Verdicts.of(Ledgers.of(json(booking), json(flight), json(customer)), 7);
    return verdicts.keySet().stream().filter(name -> !verdicts.get(name).isEmpty()).toList();
  }

  private static String change(String text, String from, String to) {
    assertThat(text).contains(from);
    return text.replace(from, to);
  }

  private static List<String> withBooking(String from, String to) {
    return failed(change(BOOKING, from, to), FLIGHT, CUSTOMER);
  }

  private static List<String> withFlight(String from, String to) {
    return failed(BOOKING, change(FLIGHT, from, to), CUSTOMER);
  }

  private static List<String> withCustomer(String from, String to) {
    return failed(BOOKING, FLIGHT, change(CUSTOMER, from, to));
  }

  @Test
  void ledgersThatAgreeHold() {
    assertThat(failed(BOOKING, FLIGHT, CUSTOMER)).isEmpty();
  }

  @Test
  void aDoubleBookingIsFound() {
    // One booking with two seats, each of them counted.
    assertThat(
            withFlight(
                "\"left\":4,\"taken\":[\"c1.b1\"]", "\"left\":3,\"taken\":[\"c1.b1\",\"c1.b1\"]"))
        .containsExactly("no_booking_has_two_seats_on_a_flight");
    // One seat sold to two bookings: the second is recorded and credited, and has none.
    String twice =
        change(
            BOOKING,
            "]}\n",
            ",{\"customer\":\"c2\",\"id\":\"b3\",\"key\":\"c2.b3\",\"state\":\"BOOKED\",\"flights\":[\"F1\"],\"miles\":100}]}");
    String credited =
        change(
            CUSTOMER,
            "\"miles\":100,\"credits\":[",
            "\"miles\":200,\"credits\":[{\"booking\":\"b3\",\"miles\":100},");
    assertThat(failed(twice, FLIGHT, credited)).containsExactly("each_booking_has_its_seats");
    // Its seat counted too, but not counted down.
    assertThat(failed(twice, change(FLIGHT, "\"c2.b2\"", "\"c2.b2\",\"c2.b3\""), credited))
        .containsExactly("seats_taken_and_left_are_all_seats");
  }

  @Test
  void aSeatThatIsLostOrNobodysIsFound() {
    assertThat(withFlight("\"left\":4", "\"left\":3"))
        .containsExactly("seats_taken_and_left_are_all_seats");
    assertThat(
            withFlight(
                "\"left\":3,\"taken\":[\"c1.b1\",\"c2.b2\"]",
                "\"left\":2,\"taken\":[\"c1.b1\",\"c2.b2\",\"c3.b1\"]"))
        .containsExactly("each_seat_taken_has_its_booking");
    assertThat(withFlight("\"left\":4,\"taken\":[\"c1.b1\"]", "\"left\":5,\"taken\":[]"))
        .containsExactly("each_booking_has_its_seats");
  }

  @Test
  void milesThatAreNotThoseOfTheBookingsAreFound() {
    assertThat(withCustomer("\"miles\":100,", "\"miles\":101,"))
        .containsExactly("miles_of_each_customer_are_those_of_the_bookings");
    assertThat(
            withCustomer(
                "\"miles\":100,\"credits\":[{\"booking\":\"b2\",\"miles\":100}]",
                "\"miles\":0,\"credits\":[]"))
        .containsExactly("each_booking_has_its_miles");
    assertThat(
            withCustomer(
                "\"booking\":\"b2\",\"miles\":100}",
                "\"booking\":\"b2\",\"miles\":50},{\"booking\":\"b2\",\"miles\":50}"))
        .containsExactly("each_booking_has_its_miles", "no_booking_is_credited_twice");
    assertThat(
            withCustomer(
                "\"miles\":100,\"credits\":[",
                "\"miles\":150,\"credits\":[{\"booking\":\"b9\",\"miles\":50},"))
        .containsExactly("each_credit_has_its_booking");
    assertThat(withBooking("\"miles\":100", "\"miles\":90"))
        .containsExactly("each_booking_has_its_miles");
  }

  @Test
  void whatIsUnfinishedOrMissingIsFound() {
    assertThat(
            withBooking(
                "\"b2\",\"key\":\"c2.b2\",\"state\":\"BOOKED\"",
                "\"b2\",\"key\":\"c2.b2\",\"state\":\"OPEN\""))
        .containsExactly("no_booking_is_unfinished");
    assertThat(
            withBooking(
                "]}\n",
                ",{\"customer\":\"c2\",\"id\":\"b2\",\"key\":\"c2.b2\",\"state\":\"BOOKED\",\"flights\":[\"F1\"],\"miles\":100}]}"))
        .containsExactly("no_booking_is_recorded_twice");
    assertThat(withFlight("\"count\":9", "\"count\":8"))
        .containsExactly("flights_are_those_of_the_data_set");
    assertThat(withCustomer("\"count\":7", "\"count\":6"))
        .containsExactly("customers_are_those_of_the_data_set");
  }
}
