package assay.brokerage.web;

import jakarta.inject.Inject;
import jakarta.json.Json;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** {@code /health}: 200 when the server may be asked, 503 before. */
@WebServlet("/health")
public class HealthServlet extends HttpServlet {
  private static final long serialVersionUID = 1;

  @Inject private transient Readiness readiness;

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    int status =
        readiness.isReady()
            ? HttpServletResponse.SC_OK
            : HttpServletResponse.SC_SERVICE_UNAVAILABLE;
    JsonAnswer.write(
        response, status, Json.createObjectBuilder().add("state", readiness.state()).build());
  }
}
