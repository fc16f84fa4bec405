package assay.airline.main;

import assay.airline.peer.Http;
import assay.airline.peer.Peer;
import assay.airline.settings.Settings;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.List;

/** The services behind this one. */
@Singleton
public class Services {
  private final Peer auth;
  private final Peer customer;
  private final Peer flight;
  private final Peer booking;

  @Inject
  public Services(Settings settings, Http http) {
    auth = new Peer("auth", settings.peers("AIRLINE_AUTH"), http);
    customer = new Peer("customer", settings.peers("AIRLINE_CUSTOMER"), http);
    flight = new Peer("flight", settings.peers("AIRLINE_FLIGHT"), http);
    booking = new Peer("booking", settings.peers("AIRLINE_BOOKING"), http);
  }

  public Peer auth() {
    return auth;
  }

  public Peer customer() {
    return customer;
  }

  public Peer flight() {
    return flight;
  }

  public Peer booking() {
    return booking;
  }

  public List<Peer> all() {
    return List.of(auth, customer, flight, booking);
  }
}
