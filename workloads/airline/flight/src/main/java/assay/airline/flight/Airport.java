package assay.airline.flight;

import assay.airline.Refused;
import java.util.Arrays;

/** The airports, with where they are (degrees, rounded). */
enum Airport {
  AMS(52.3, 4.8),
  ATH(37.9, 23.9),
  CPT(-34.0, 18.6),
  DEL(28.6, 77.1),
  GRU(-23.4, -46.5),
  HND(35.6, 139.8),
  JFK(40.6, -73.8),
  LIS(38.8, -9.1),
  NBO(-1.3, 36.9),
  SIN(1.4, 104.0),
  SYD(-33.9, 151.2),
  YVR(49.2, -123.2);

  private static final double EARTH_RADIUS_MILES = 3_959;

  private final double latitude;
  private final double longitude;

  Airport(double latitude, double longitude) {
    this.latitude = Math.toRadians(latitude);
    this.longitude = Math.toRadians(longitude);
  }

  static Airport named(String code) {
    return Arrays.stream(values())
        .filter(a -> a.name().equals(code))
        .findFirst()
        .orElseThrow(
            () -> new Refused(Refused.Reason.NOT_FOUND, "there is no airport '" + code + "'"));
  }

  /** Along the great circle. */
  long milesTo(Airport other) {
    double a =
        square(Math.sin((other.latitude - latitude) / 2))
            + Math.cos(latitude)
                * Math.cos(other.latitude)
                * square(Math.sin((other.longitude - longitude) / 2));
    return Math.round(2 * EARTH_RADIUS_MILES * Math.asin(Math.sqrt(a)));
  }

  private static double square(double x) {
    return x * x;
  }
}
