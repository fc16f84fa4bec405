package assay.brokerage.web;

import assay.brokerage.Refused;
import assay.brokerage.stats.Counters;
import assay.brokerage.stats.Counters.Outcome;
import jakarta.inject.Inject;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.Optional;

/** Carries out an operation and shows its page; what fails has a failure's status. */
abstract class PageServlet extends HttpServlet {
  private static final long serialVersionUID = 1;
  private static final Logger LOG = System.getLogger(PageServlet.class.getName());

  @Inject private transient Operations operations;
  @Inject private transient Counters counters;
  @Inject private transient SessionCookie session;
  @Inject private transient Readiness readiness;

  /** An operation with who asks for it. */
  record Asked(Operation operation, Visit visit) {}

  /** Reads the request; may refuse it. */
  abstract Optional<Asked> asked(HttpServletRequest request, SessionCookie cookies);

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws ServletException, IOException {
    if (!readiness.isReady()) {
      showFailure(request, response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, "not ready yet");
      return;
    }
    String counted = "unknown";
    try {
      Optional<Asked> asked = asked(request, session);
      if (asked.isEmpty()) {
        counters.count(counted, Outcome.REFUSED);
        showFailure(request, response, HttpServletResponse.SC_METHOD_NOT_ALLOWED, "use POST");
        return;
      }
      counted = asked.get().operation().id();
      show(request, response, operations.run(asked.get().operation(), asked.get().visit()));
      counters.count(counted, Outcome.DONE);
    } catch (Refused e) {
      counters.count(counted, Outcome.REFUSED);
      showFailure(request, response, status(e), e.getMessage());
    } catch (RuntimeException | ServletException e) {
      counters.count(counted, Outcome.FAILED);
      LOG.log(Level.ERROR, counted + " failed", e);
      showFailure(request, response, HttpServletResponse.SC_INTERNAL_SERVER_ERROR, "it failed");
    }
  }

  private void show(HttpServletRequest request, HttpServletResponse response, Page page)
      throws ServletException, IOException {
    if (page.loggedOut()) {
      session.end(response);
    }
    if (page.loggedIn().isPresent()) {
      session.begin(response, page.loggedIn().getAsInt());
    }
    forward(request, response, page.view(), page.values());
  }

  private static void showFailure(
      HttpServletRequest request, HttpServletResponse response, int status, String message)
      throws ServletException, IOException {
    if (response.isCommitted()) {
      throw new IOException("the page failed after a part of it was sent");
    }
    response.reset();
    response.setStatus(status);
    forward(
        request,
        response,
        "failure",
        Map.of("title", "Not done", "status", status, "message", message));
  }

  private static void forward(
      HttpServletRequest request,
      HttpServletResponse response,
      String view,
      Map<String, Object> values)
      throws ServletException, IOException {
    values.forEach(request::setAttribute);
    request.getRequestDispatcher("/WEB-INF/pages/" + view + ".jsp").forward(request, response);
  }

  private static int status(Refused refused) {
    return switch (refused.reason()) {
      case INVALID -> HttpServletResponse.SC_BAD_REQUEST;
      case NOT_LOGGED_IN -> HttpServletResponse.SC_UNAUTHORIZED;
      case NOT_FOUND -> HttpServletResponse.SC_NOT_FOUND;
      case CONFLICT -> HttpServletResponse.SC_CONFLICT;
    };
  }
}
