package assay.airline.web;

import jakarta.enterprise.inject.Vetoed;
import jakarta.ws.rs.core.Application;
import java.util.HashSet;
import java.util.Set;

/** What each service's application has, and its own resources. */
@Vetoed // only the services themselves are beans
public abstract class Service extends Application {
  private final Set<Class<?>> classes = new HashSet<>();

  protected Service(Set<Class<?>> resources) {
    classes.addAll(
        Set.of(
            HealthResource.class,
            Failures.OfRefused.class,
            Failures.OfPeer.class,
            Failures.OfStore.class,
            Failures.OfMemory.class));
    classes.addAll(resources);
  }

  @Override
  public Set<Class<?>> getClasses() {
    return Set.copyOf(classes);
  }
}
