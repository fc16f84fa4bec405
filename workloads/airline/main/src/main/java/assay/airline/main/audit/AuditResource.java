package assay.airline.main.audit;

import assay.airline.peer.PeerFailed;
import assay.airline.web.JsonAnswer;
import assay.airline.web.Readiness;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;

/** {@code /audit}: 200 when every invariant holds, 500 with those that do not. */
@Singleton
@Path("/audit")
public class AuditResource {
  private final Audit audit;
  private final Readiness readiness;

  @Inject
  public AuditResource(Audit audit, Readiness readiness) {
    this.audit = audit;
    this.readiness = readiness;
  }

  @GET
  public Response audit() throws InterruptedException {
    if (!readiness.isReady()) {
      return JsonAnswer.problem(503, readiness.state());
    }
    try {
      Audit.Report report = audit.audit();
      return JsonAnswer.of(report.holds() ? 200 : 500, json(report).build());
    } catch (PeerFailed e) {
      return JsonAnswer.problem(500, "the audit could not be finished: " + e.getMessage());
    }
  }

  private static JsonObjectBuilder json(Audit.Report report) {
    JsonArrayBuilder verdicts = Json.createArrayBuilder();
    report
        .verdicts()
        .forEach(
            (name, offenders) ->
                verdicts.add(
                    Json.createObjectBuilder()
                        .add("name", name)
                        .add("holds", offenders.isEmpty())
                        .add("offenders", Json.createArrayBuilder(offenders))));
    return Json.createObjectBuilder()
        .add("schema", "assay.airline-audit/1")
        .add("holds", report.holds())
        .add("failed", Json.createArrayBuilder(report.failed()))
        .add("waited_ms", report.waitedMs())
        .add("bookings", report.bookings())
        .add("seats_taken", report.seatsTaken())
        .add("invariants", verdicts);
  }
}
