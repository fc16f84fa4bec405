package assay.airline.flight;

import assay.airline.token.Groups;
import assay.airline.web.JsonAnswer;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Response;
import org.bson.Document;

/** {@code /internal}: what other services ask for. */
@Singleton
@Path("/internal")
@RolesAllowed(Groups.SERVICE)
public class FlightInternalResource {
  private final Flights flights;

  @Inject
  public FlightInternalResource(Flights flights) {
    this.flights = flights;
  }

  @PUT
  @Path("/seats/{flight}/{booking}")
  public Response take(@PathParam("flight") String flight, @PathParam("booking") String booking) {
    Flights.Seat seat = flights.take(flight, booking);
    return JsonAnswer.of(
        200,
        Json.createObjectBuilder().add("effect", seat.effect().name()).add("miles", seat.miles()));
  }

  @DELETE
  @Path("/seats/{flight}/{booking}")
  public Response takeBack(
      @PathParam("flight") String flight, @PathParam("booking") String booking) {
    flights.takeBack(flight, booking);
    return JsonAnswer.of(200, Json.createObjectBuilder());
  }

  /** What the audit compares: all flights with a seat that is not left, and how many there are. */
  @GET
  @Path("/ledger")
  public Response ledger() {
    JsonArrayBuilder entries = Json.createArrayBuilder();
    long count = 0;
    for (Document document : flights.all()) {
      Flight flight = Flight.of(document);
      count++;
      if (flight.left() != flight.seats() || !flight.taken().isEmpty()) {
        entries.add(
            Json.createObjectBuilder()
                .add("name", flight.name())
                .add("miles", flight.miles())
                .add("seats", flight.seats())
                .add("left", flight.left())
                .add("taken", Json.createArrayBuilder(flight.taken())));
      }
    }
    return JsonAnswer.of(
        200,
        Json.createObjectBuilder()
            .add("count", count)
            .add("expected", Timetable.flights())
            .add("flights", entries));
  }
}
