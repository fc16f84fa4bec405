package assay.airline.web;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

/**
 * JSON objects as responses, written by nobody but us: what stands in them is what the code says.
 */
public final class JsonAnswer {
  private JsonAnswer() {}

  public static Response of(int status, JsonObject body) {
    return Response.status(status).type(MediaType.APPLICATION_JSON).entity(body.toString()).build();
  }

  public static Response of(int status, JsonObjectBuilder body) {
    return of(status, body.build());
  }

  public static Response problem(int status, String problem) {
    return of(status, Json.createObjectBuilder().add("problem", problem));
  }
}
