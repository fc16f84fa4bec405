package assay.airline.booking;

import assay.airline.token.Groups;
import assay.airline.web.JsonAnswer;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;
import java.time.Duration;

/** {@code /internal}: what the audit asks for. */
@Singleton
@Path("/internal")
@RolesAllowed(Groups.SERVICE)
public class BookingInternalResource {
  private static final long CLOSED_MS_MAX = 120_000;

  private final BookingRecords records;
  private final Gate gate;

  @Inject
  public BookingInternalResource(BookingRecords records, Gate gate) {
    this.records = records;
    this.gate = gate;
  }

  /** Refuses new bookings for so long. */
  @POST
  @Path("/close")
  public Response close(@FormParam("ms") @DefaultValue("0") long ms) throws InterruptedException {
    boolean isQuiet = gate.close(Duration.ofMillis(Math.min(ms, CLOSED_MS_MAX)));
    return JsonAnswer.of(200, Json.createObjectBuilder().add("quiet", isQuiet));
  }

  @POST
  @Path("/open")
  public Response open() {
    gate.open();
    return JsonAnswer.of(200, Json.createObjectBuilder());
  }

  /** How many bookings are on their way. */
  @GET
  @Path("/unfinished")
  public Response unfinished() {
    int count = records.unfinished().size();
    return JsonAnswer.of(200, Json.createObjectBuilder().add("unfinished", count));
  }

  /** What the audit compares: all bookings. */
  @GET
  @Path("/ledger")
  public Response ledger() {
    JsonArrayBuilder entries = Json.createArrayBuilder();
    for (Booking booking : records.all()) {
      entries.add(
          Json.createObjectBuilder()
              .add("customer", booking.customer())
              .add("id", booking.id())
              .add("key", booking.key())
              .add("state", booking.state().name())
              .add("flights", Json.createArrayBuilder(booking.flights()))
              .add("miles", booking.miles()));
    }
    return JsonAnswer.of(200, Json.createObjectBuilder().add("bookings", entries));
  }
}
