package assay.brokerage.web;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** One path for each operation. */
@WebServlet(
    urlPatterns = {
      "/home",
      "/quotes",
      "/login",
      "/logout",
      "/register",
      "/account",
      "/portfolio",
      "/buy",
      "/sell",
      "/update",
      "/market"
    })
public class OperationServlet extends PageServlet {
  private static final long serialVersionUID = 1;

  @Override
  Optional<Asked> asked(HttpServletRequest request, SessionCookie cookies) {
    Operation operation =
        Operation.at(request.getServletPath())
            .orElseThrow(() -> new IllegalStateException("path without operation"));
    boolean post = request.getMethod().equals("POST");
    boolean get = request.getMethod().equals("GET");
    if (operation.changes() ? !post : !get) {
      return Optional.empty();
    }
    return Optional.of(new Asked(operation, new Visit(cookies.account(request), values(request))));
  }

  private static Map<String, String> values(HttpServletRequest request) {
    Map<String, String> values = new HashMap<>();
    request.getParameterMap().forEach((name, texts) -> values.put(name, texts[0]));
    return values;
  }
}
