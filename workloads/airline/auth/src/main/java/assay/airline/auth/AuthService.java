package assay.airline.auth;

import assay.airline.web.Service;
import jakarta.ws.rs.ApplicationPath;
import java.util.Set;

/** The auth service: it alone signs tokens. */
@ApplicationPath("/")
public class AuthService extends Service {
  public AuthService() {
    super(Set.of(AuthResource.class));
  }
}
