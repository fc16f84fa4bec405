package assay.airline.main;

import assay.airline.peer.Answer;
import assay.airline.peer.Body;
import assay.airline.peer.Peer;
import assay.airline.peer.PeerFailed;
import assay.airline.web.Readiness;
import assay.airline.web.Starting;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.net.URI;
import java.time.Duration;

/** Ready when all instances of all services are. */
@Singleton
public class MainStart {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  void begin(
      @Observes @Initialized(ApplicationScoped.class) Object event,
      Services services,
      Readiness readiness) {
    Thread unused = Starting.begin(readiness, () -> requireAll(services));
  }

  private static void requireAll(Services services) throws PeerFailed {
    for (Peer service : services.all()) {
      for (URI instance : service.instances()) {
        Answer answer = service.askOne(instance, "GET", "/health", "", Body.NONE, TIMEOUT);
        if (answer.status() != 200) {
          throw new PeerFailed(instance + " is not ready: status " + answer.status());
        }
      }
    }
  }
}
