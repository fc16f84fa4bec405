package assay.airline.main.gateway;

import assay.airline.web.JsonAnswer;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;

/** {@code /stats}: what this instance handed on since it started. */
@Singleton
@Path("/stats")
public class StatsResource {
  private final Counters counters;

  @Inject
  public StatsResource(Counters counters) {
    this.counters = counters;
  }

  @GET
  public Response stats() {
    JsonObjectBuilder routes = Json.createObjectBuilder();
    counters
        .counts()
        .forEach(
            (route, statuses) -> {
              JsonObjectBuilder row = Json.createObjectBuilder();
              statuses.forEach(row::add);
              routes.add(route, row);
            });
    return JsonAnswer.of(
        200,
        Json.createObjectBuilder()
            .add("schema", "assay.airline-stats/1")
            .add("requests_by_status", routes));
  }
}
