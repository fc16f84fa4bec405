package assay.airline.web;

import assay.airline.token.TokenVerifier;
import assay.airline.token.TokenVerifier.Claims;
import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.ext.Provider;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;

/** Asks for the token that a resource {@link Needs}, and says who asks ({@link Caller}). */
@Singleton
@Provider
@Priority(Priorities.AUTHENTICATION)
public class TokenFilter implements ContainerRequestFilter {
  private static final String BEARER = "Bearer ";

  // A provider must have a constructor without parameters, so these come into fields.
  @Inject private TokenVerifier verifier;
  @Inject private Caller caller;
  @Context private ResourceInfo resource;

  @Override
  public void filter(ContainerRequestContext request) throws IOException {
    Needs needs = resource.getResourceClass().getAnnotation(Needs.class);
    if (needs == null) {
      return;
    }
    String header = request.getHeaderString("Authorization");
    Optional<Claims> claims =
        header != null && header.startsWith(BEARER)
            ? verifier.verify(header.substring(BEARER.length()), Instant.now())
            : Optional.empty();
    if (claims.isEmpty()) {
      request.abortWith(JsonAnswer.problem(401, "a token that holds is wanted"));
    } else if (!claims.get().group().equals(needs.value())) {
      request.abortWith(JsonAnswer.problem(403, "the token is not one of a " + needs.value()));
    } else {
      caller.is(claims.get().subject());
    }
  }
}
