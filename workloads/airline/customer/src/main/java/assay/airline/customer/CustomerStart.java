package assay.airline.customer;

import assay.airline.documents.Documents;
import assay.airline.documents.FirstLoad;
import assay.airline.settings.DataSize;
import assay.airline.settings.Settings;
import assay.airline.web.Readiness;
import assay.airline.web.Starting;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.Iterator;
import java.util.stream.IntStream;
import org.bson.Document;

/** Fills the store with customers if it has none. */
@Singleton
public class CustomerStart {
  /** The layout of a customer's document: a store filled with another layout is refused. */
  private static final String LAYOUT = ", layout 2";

  void begin(
      @Observes @Initialized(ApplicationScoped.class) Object event,
      Documents documents,
      Settings settings,
      Readiness readiness) {
    Thread unused = Starting.begin(readiness, () -> load(documents, settings));
  }

  static void load(Documents documents, Settings settings) {
    DataSize size = settings.data();
    Iterator<Document> fresh =
        IntStream.range(0, size.customers()).mapToObj(n -> Customers.fresh(n, size)).iterator();
    FirstLoad.into(documents, Customers.COLLECTION, settings.text("AIRLINE_DATA") + LAYOUT, fresh);
  }
}
