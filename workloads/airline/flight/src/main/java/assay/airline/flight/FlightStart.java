package assay.airline.flight;

import assay.airline.documents.Documents;
import assay.airline.documents.FirstLoad;
import assay.airline.settings.Settings;
import assay.airline.web.Readiness;
import assay.airline.web.Starting;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;

/** Fills the store with flights if it has none. */
@Singleton
public class FlightStart {
  void begin(
      @Observes @Initialized(ApplicationScoped.class) Object event,
      Documents documents,
      Settings settings,
      Readiness readiness) {
    Thread unused = Starting.begin(readiness, () -> load(documents, settings));
  }

  static void load(Documents documents, Settings settings) {
    FirstLoad.into(
        documents,
        Flights.COLLECTION,
        settings.text("AIRLINE_DATA"),
        Timetable.fresh(settings.data().seats()).iterator());
  }
}
