package assay.airline.main.gateway;

import assay.airline.main.Services;
import assay.airline.peer.Answer;
import assay.airline.peer.Body;
import assay.airline.peer.PeerFailed;
import jakarta.inject.Inject;
import jakarta.json.Json;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Hands requests on to the services that answer them, and their answers back. */
@WebServlet({"/auth/*", "/customers/*", "/flights/*", "/bookings/*"})
public class GatewayServlet extends HttpServlet {
  private static final long serialVersionUID = 1;
  private static final int BODY_BYTES_MAX = 64 << 10;
  private static final String BEARER = "Bearer ";

  @Inject private transient Services services;
  @Inject private transient Counters counters;

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Optional<Route> route = Route.of(request.getRequestURI());
    if (route.isEmpty()) {
      problem(response, HttpServletResponse.SC_NOT_FOUND, "there is nothing here");
      return;
    }
    hand(route.get(), request, response);
    counters.count(route.get(), response.getStatus());
  }

  private void hand(Route route, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    byte[] body;
    try (InputStream in = request.getInputStream()) {
      body = in.readNBytes(BODY_BYTES_MAX + 1);
    }
    if (body.length > BODY_BYTES_MAX) {
      problem(response, HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE, "the body is too large");
      return;
    }
    String type = request.getContentType();
    String authorization = request.getHeader("Authorization");
    boolean hasToken = authorization != null && authorization.startsWith(BEARER);
    String query = request.getQueryString();
    String path = request.getRequestURI() + (query == null ? "" : "?" + query);
    try {
      Answer answer =
          route
              .service(services)
              .ask(
                  request.getMethod(),
                  path,
                  hasToken ? authorization.substring(BEARER.length()) : "",
                  new Body(type == null ? "" : type, body));
      write(response, answer.status(), answer.contentType(), answer.body());
    } catch (IllegalArgumentException e) {
      problem(response, HttpServletResponse.SC_BAD_REQUEST, "the path or method is not understood");
    } catch (PeerFailed e) {
      problem(response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, e.getMessage());
    }
  }

  private static void problem(HttpServletResponse response, int status, String problem)
      throws IOException {
    String json = Json.createObjectBuilder().add("problem", problem).build().toString();
    write(response, status, "application/json", json.getBytes(StandardCharsets.UTF_8));
  }

  private static void write(HttpServletResponse response, int status, String type, byte[] body)
      throws IOException {
    response.setStatus(status);
    response.setContentType(type);
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }
}
