package assay.airline.token;

import assay.airline.peer.Answer;
import assay.airline.peer.Body;
import assay.airline.peer.Http;
import assay.airline.peer.Peer;
import assay.airline.peer.PeerFailed;
import assay.airline.settings.Settings;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The token that a service shows to others, which it gets from the auth service for the secret that
 * only services have. It is asked for anew some time before it ends.
 */
@Singleton
public class ServiceToken {
  private static final Duration RENEWED_BEFORE_END = Duration.ofMinutes(5);

  private final Peer auth;
  private final String secret;
  private final Clock clock;
  private final AtomicReference<Held> held = new AtomicReference<>();

  private record Held(String token, Instant renewal) {}

  @Inject
  public ServiceToken(Settings settings, Http http) {
    this(
        new Peer("auth", settings.peers("AIRLINE_AUTH"), http),
        settings.text("AIRLINE_SECRET"),
        Clock.systemUTC());
  }

  ServiceToken(Peer auth, String secret, Clock clock) {
    this.auth = auth;
    this.secret = secret;
    this.clock = clock;
  }

  /** Two threads that find none ask twice; both tokens hold. */
  public String get() throws PeerFailed {
    Instant now = clock.instant();
    Held known = held.get();
    if (known != null && now.isBefore(known.renewal())) {
      return known.token();
    }
    Answer answer = auth.ask("POST", "/auth/service", "", Body.form("secret", secret));
    if (answer.status() != 200) {
      throw new PeerFailed("auth gave no token: status " + answer.status());
    }
    String token = answer.json().getString("token");
    held.set(new Held(token, now.plus(TokenSigner.LIFETIME).minus(RENEWED_BEFORE_END)));
    return token;
  }
}
