package assay.airline.web;

import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;

/** Who asks, by the token of the request: of a resource that asks for one. */
@RequestScoped
public class Caller {
  @Inject private HttpServletRequest request;

  /** The customer. */
  public String subject() {
    return request.getUserPrincipal().getName();
  }
}
