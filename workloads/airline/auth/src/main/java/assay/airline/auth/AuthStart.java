package assay.airline.auth;

import assay.airline.web.Readiness;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;

/** Ready as soon as there are keys, without which there are no {@link Tokens}. */
@Singleton
public class AuthStart {
  void begin(
      @Observes @Initialized(ApplicationScoped.class) Object event,
      Tokens tokens,
      Readiness readiness) {
    if (!tokens.ofService().isEmpty()) {
      readiness.ready();
    }
  }
}
