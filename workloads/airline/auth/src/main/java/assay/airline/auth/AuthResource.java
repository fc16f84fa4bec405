package assay.airline.auth;

import assay.airline.peer.PeerFailed;
import assay.airline.web.JsonAnswer;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;

/** {@code /auth}: tokens for customers and for services. */
@Singleton
@Path("/auth")
public class AuthResource {
  private final Tokens tokens;
  private final Passwords passwords;

  @Inject
  public AuthResource(Tokens tokens, Passwords passwords) {
    this.tokens = tokens;
    this.passwords = passwords;
  }

  @POST
  @Path("/login")
  public Response login(
      @FormParam("customer") @DefaultValue("") String customer,
      @FormParam("password") @DefaultValue("") String password)
      throws PeerFailed {
    if (!passwords.isRight(customer, password)) {
      return JsonAnswer.problem(401, "there is no customer with this name and password");
    }
    return JsonAnswer.of(
        200,
        Json.createObjectBuilder()
            .add("customer", customer)
            .add("token", tokens.ofCustomer(customer)));
  }

  /** For services alone: main does not hand this on. */
  @POST
  @Path("/service")
  public Response service(@FormParam("secret") @DefaultValue("") String secret) {
    if (!tokens.isSecret(secret)) {
      return JsonAnswer.problem(401, "this is not the secret of the services");
    }
    return JsonAnswer.of(200, Json.createObjectBuilder().add("token", tokens.ofService()));
  }
}
