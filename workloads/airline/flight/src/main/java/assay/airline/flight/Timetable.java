package assay.airline.flight;

import assay.airline.Refused;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.bson.Document;

/**
 * The flights of each day, whose number a flight's name holds. Days are counted from a fixed first
 * one, never from today: data that was loaded long ago is as good as new.
 */
final class Timetable {
  /** The date of day 0. */
  static final LocalDate FIRST_DAY = LocalDate.of(2030, 1, 7);

  /** Trips begin on one of the first days, and return before the last. */
  static final int DAYS = 18;

  /** Flights from one airport to another on a day. */
  static final int FLIGHTS_A_DAY = 2;

  private static final int[] DEPARTURES_MINUTES = {8 * 60 + 15, 17 * 60 + 40};
  private static final int CENTS_A_MILE = 11;

  private Timetable() {}

  static int flights() {
    int airports = Airport.values().length;
    return airports * (airports - 1) * DAYS * FLIGHTS_A_DAY;
  }

  /** The names of all flights of a route on a day. */
  static List<String> names(Airport from, Airport to, int day) {
    if (day < 0 || day >= DAYS) {
      throw new Refused(
          Refused.Reason.NOT_FOUND, "day " + day + " is not one of 0 to " + (DAYS - 1));
    }
    List<String> names = new ArrayList<>();
    for (int number = 1; number <= FLIGHTS_A_DAY; number++) {
      names.add(from + "-" + to + "-" + day + "-" + number);
    }
    return names;
  }

  /** All flights, with all seats left. */
  static List<Document> fresh(int seats) {
    List<Document> flights = new ArrayList<>(flights());
    for (Airport from : Airport.values()) {
      for (Airport to : Airport.values()) {
        for (int day = 0; day < DAYS && from != to; day++) {
          List<String> names = names(from, to, day);
          for (int i = 0; i < names.size(); i++) {
            flights.add(fresh(names.get(i), from, to, day, DEPARTURES_MINUTES[i], seats));
          }
        }
      }
    }
    return flights;
  }

  private static Document fresh(
      String name, Airport from, Airport to, int day, int departureMinutes, int seats) {
    long miles = from.milesTo(to);
    return new Document("_id", name)
        .append("from", from.name())
        .append("to", to.name())
        .append(
            "departs",
            FIRST_DAY.plusDays(day).atStartOfDay().plusMinutes(departureMinutes).toString())
        .append("miles", miles)
        .append("price_cents", miles * CENTS_A_MILE)
        .append("seats", seats)
        .append("left", seats)
        .append("taken", List.of())
        .append("taken_back", List.of());
  }
}
