package assay.brokerage.web;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonWriter;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Writes a JSON object as a response. */
final class JsonAnswer {
  private JsonAnswer() {}

  static void write(HttpServletResponse response, int status, JsonObject body) throws IOException {
    response.setStatus(status);
    response.setContentType("application/json");
    response.setCharacterEncoding("UTF-8");
    try (JsonWriter writer = Json.createWriter(response.getWriter())) {
      writer.writeObject(body);
    }
  }

  static JsonObject problem(String problem) {
    return Json.createObjectBuilder().add("problem", problem).build();
  }
}
