package assay.airline.web;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;

/** {@code /health}: 200 when a service may be asked, 503 before. */
@Singleton
@Path("/health")
public class HealthResource {
  private final Readiness readiness;

  @Inject
  public HealthResource(Readiness readiness) {
    this.readiness = readiness;
  }

  @GET
  public Response health() {
    int status = readiness.isReady() ? 200 : 503;
    return JsonAnswer.of(status, Json.createObjectBuilder().add("state", readiness.state()));
  }
}
