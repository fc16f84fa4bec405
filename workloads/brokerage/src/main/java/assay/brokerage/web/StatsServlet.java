package assay.brokerage.web;

import assay.brokerage.database.Settings;
import assay.brokerage.order.OrderMode;
import assay.brokerage.stats.Counters;
import assay.brokerage.stats.TableRows;
import jakarta.inject.Inject;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.SQLException;
import java.util.Map;

/** {@code /stats}: what the server has done since it started, and how big its tables are. */
@WebServlet("/stats")
public class StatsServlet extends HttpServlet {
  private static final long serialVersionUID = 1;

  @Inject private transient Counters counters;
  @Inject private transient TableRows tables;
  @Inject private transient Settings settings;
  @Inject private transient OrderMode mode;

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    JsonObjectBuilder operations = Json.createObjectBuilder();
    counters.operations().forEach((name, outcomes) -> operations.add(name, counts(outcomes)));
    JsonObjectBuilder answer =
        Json.createObjectBuilder()
            .add("schema", "assay.brokerage-stats/1")
            .add("database", settings.database())
            .add("order_mode", mode.option())
            .add("operations", operations)
            .add("events", counts(counters.events()));
    try {
      answer.add("rows", counts(tables.count()));
      JsonAnswer.write(response, HttpServletResponse.SC_OK, answer.build());
    } catch (SQLException e) {
      answer.add("problem", "the rows could not be counted: " + e);
      JsonAnswer.write(response, HttpServletResponse.SC_INTERNAL_SERVER_ERROR, answer.build());
    }
  }

  private static JsonObjectBuilder counts(Map<String, Long> counts) {
    JsonObjectBuilder json = Json.createObjectBuilder();
    counts.forEach(json::add);
    return json;
  }
}
