package assay.airline.main.gateway;

import assay.airline.main.Services;
import assay.airline.peer.Peer;
import java.util.Locale;
import java.util.Optional;

/** Which service answers which paths. What services ask each other is not among them. */
enum Route {
  LOGIN("/auth/login"),
  CUSTOMERS("/customers"),
  FLIGHTS("/flights"),
  BOOKINGS("/bookings");

  private final String path;

  Route(String path) {
    this.path = path;
  }

  static Optional<Route> of(String path) {
    for (Route route : values()) {
      if (path.equals(route.path) || path.startsWith(route.path + "/")) {
        return Optional.of(route);
      }
    }
    return Optional.empty();
  }

  Peer service(Services services) {
    return switch (this) {
      case LOGIN -> services.auth();
      case CUSTOMERS -> services.customer();
      case FLIGHTS -> services.flight();
      case BOOKINGS -> services.booking();
    };
  }

  /** As the statistics call it. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
