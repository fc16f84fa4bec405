package assay.airline.auth;

import assay.airline.peer.Answer;
import assay.airline.peer.Body;
import assay.airline.peer.Http;
import assay.airline.peer.Peer;
import assay.airline.peer.PeerFailed;
import assay.airline.settings.Settings;
import assay.airline.token.TokenSigner;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

/** Asks the customer service, which has the passwords, whether one is right. */
@Singleton
public class Passwords {
  private static final Duration RENEWED_AFTER = TokenSigner.LIFETIME.dividedBy(2);

  private final Peer customers;
  private final Tokens tokens;
  private final AtomicReference<Own> own = new AtomicReference<>();

  private record Own(String token, Instant renewal) {}

  @Inject
  public Passwords(Settings settings, Http http, Tokens tokens) {
    this.customers = new Peer("customer", settings.peers("AIRLINE_CUSTOMER"), http);
    this.tokens = tokens;
  }

  boolean isRight(String customer, String password) throws PeerFailed {
    Body form = Body.form("customer", customer, "password", password);
    Answer answer = customers.ask("POST", "/internal/password", token(), form);
    if (answer.status() != 200) {
      throw new PeerFailed("customer did not check a password: status " + answer.status());
    }
    return answer.json().getBoolean("right");
  }

  private String token() {
    Instant now = Instant.now();
    Own known = own.get();
    if (known == null || now.isAfter(known.renewal())) {
      known = new Own(tokens.ofService(), now.plus(RENEWED_AFTER));
      own.set(known);
    }
    return known.token();
  }
}
