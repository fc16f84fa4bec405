package assay.airline.flight;

import assay.airline.Refused;
import assay.airline.token.Groups;
import assay.airline.web.JsonAnswer;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Response;
import java.util.List;

/** {@code /flights}: flights out, and back if the traveller stays for some days. */
@Singleton
@Path("/flights")
@RolesAllowed(Groups.CUSTOMER)
public class FlightResource {
  private final Flights flights;

  @Inject
  public FlightResource(Flights flights) {
    this.flights = flights;
  }

  @GET
  public Response query(
      @QueryParam("from") @DefaultValue("") String from,
      @QueryParam("to") @DefaultValue("") String to,
      @QueryParam("day") @DefaultValue("0") int day,
      @QueryParam("stay") @DefaultValue("0") int stay) {
    Airport there = Airport.named(from);
    Airport away = Airport.named(to);
    if (there == away) {
      throw new Refused(Refused.Reason.INVALID, "a flight goes to another airport");
    }
    JsonObjectBuilder answer =
        Json.createObjectBuilder().add("out", json(flights.query(there, away, day)));
    if (stay > 0) {
      answer.add("back", json(flights.query(away, there, day + stay)));
    }
    return JsonAnswer.of(200, answer);
  }

  private static JsonArrayBuilder json(List<Flight> flights) {
    JsonArrayBuilder json = Json.createArrayBuilder();
    for (Flight flight : flights) {
      json.add(
          Json.createObjectBuilder()
              .add("flight", flight.name())
              .add("from", flight.from())
              .add("to", flight.to())
              .add("departs", flight.departs())
              .add("miles", flight.miles())
              .add("price_cents", flight.priceCents())
              .add("left", flight.left()));
    }
    return json;
  }
}
