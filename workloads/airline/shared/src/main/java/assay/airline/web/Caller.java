package assay.airline.web;

import jakarta.enterprise.context.RequestScoped;

/** Who asks, by the token of the request. */
@RequestScoped
public class Caller {
  private String subject = "";

  /** The customer, or nobody where a resource needs no token. */
  public String subject() {
    return subject;
  }

  void is(String named) {
    subject = named;
  }
}
