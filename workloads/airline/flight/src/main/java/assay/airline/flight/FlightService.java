package assay.airline.flight;

import assay.airline.web.Service;
import jakarta.ws.rs.ApplicationPath;
import java.util.Set;

/** The flight service: which flights there are, and who has their seats. */
@ApplicationPath("/")
public class FlightService extends Service {
  public FlightService() {
    super(Set.of(FlightResource.class, FlightInternalResource.class));
  }
}
