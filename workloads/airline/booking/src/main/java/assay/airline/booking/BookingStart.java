package assay.airline.booking;

import assay.airline.web.Readiness;
import assay.airline.web.Starting;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Finishes what a killed instance left, before this one is ready. */
@Singleton
public class BookingStart {
  private static final Logger LOG = System.getLogger(BookingStart.class.getName());

  void begin(
      @Observes @Initialized(ApplicationScoped.class) Object event,
      Unfinished unfinished,
      Readiness readiness) {
    unfinished.begin();
    Thread unused =
        Starting.begin(
            readiness,
            () -> {
              int recovered = unfinished.recover();
              LOG.log(Level.INFO, "bookings that were unfinished at the start: {0}", recovered);
            });
  }
}
