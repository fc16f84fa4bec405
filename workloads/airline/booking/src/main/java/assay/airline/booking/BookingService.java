package assay.airline.booking;

import assay.airline.web.Service;
import jakarta.ws.rs.ApplicationPath;
import java.util.Set;

/** The booking service: what customers booked, from the first write until all of it is done. */
@ApplicationPath("/")
public class BookingService extends Service {
  public BookingService() {
    super(Set.of(BookingResource.class, BookingInternalResource.class));
  }
}
