package assay.airline.main.audit;

import assay.airline.main.Services;
import assay.airline.peer.Answer;
import assay.airline.peer.Body;
import assay.airline.peer.Peer;
import assay.airline.peer.PeerFailed;
import assay.airline.settings.Settings;
import assay.airline.token.ServiceToken;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.JsonObject;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Has new bookings refused, waits until those under way are at their end, and compares what the
 * services have.
 */
@Singleton
public class Audit {
  private static final Duration CLOSED_MAX = Duration.ofSeconds(100);
  private static final Duration UNFINISHED_MAX = Duration.ofSeconds(30);
  private static final Duration TIMEOUT = Duration.ofSeconds(40);
  private static final int POLL_MS = 100;

  private final Services services;
  private final ServiceToken token;
  private final long customersExpected;

  /** What was found. */
  record Report(long waitedMs, long bookings, long seatsTaken, Map<String, List<String>> verdicts) {
    boolean holds() {
      return verdicts.values().stream().allMatch(List::isEmpty);
    }

    List<String> failed() {
      return verdicts.keySet().stream().filter(name -> !verdicts.get(name).isEmpty()).toList();
    }
  }

  @Inject
  public Audit(Services services, ServiceToken token, Settings settings) {
    this.services = services;
    this.token = token;
    customersExpected = settings.data().customers();
  }

  Report audit() throws PeerFailed, InterruptedException {
    try {
      closeAll();
      long waitedMs = awaitUnfinished();
      Ledgers ledgers =
          Ledgers.of(
              ledger(services.booking()), ledger(services.flight()), ledger(services.customer()));
      return new Report(
          waitedMs,
          ledgers.bookings().size(),
          ledgers.flights().stream().mapToLong(f -> f.taken().size()).sum(),
          Verdicts.of(ledgers, customersExpected));
    } finally {
      openAll();
    }
  }

  private void closeAll() throws PeerFailed {
    Body form = Body.form("ms", String.valueOf(CLOSED_MAX.toMillis()));
    for (URI instance : services.booking().instances()) {
      Answer answer =
          services
              .booking()
              .askOne(instance, "POST", "/internal/close", token.get(), form, TIMEOUT);
      if (!good(answer).getBoolean("quiet")) {
        throw new PeerFailed("bookings did not pause at " + instance);
      }
    }
  }

  private void openAll() throws PeerFailed {
    for (URI instance : services.booking().instances()) {
      JsonObject unused =
          good(
              services
                  .booking()
                  .askOne(instance, "POST", "/internal/open", token.get(), Body.NONE, TIMEOUT));
    }
  }

  /** Those that are unfinished after the longest wait violate an invariant. */
  private long awaitUnfinished() throws PeerFailed, InterruptedException {
    long begun = System.nanoTime();
    long waitedNs = 0;
    while (waitedNs < UNFINISHED_MAX.toNanos()
        && ask(services.booking(), "/internal/unfinished").getInt("unfinished") > 0) {
      Thread.sleep(POLL_MS);
      waitedNs = System.nanoTime() - begun;
    }
    return waitedNs / 1_000_000;
  }

  private JsonObject ledger(Peer service) throws PeerFailed {
    return ask(service, "/internal/ledger");
  }

  private JsonObject ask(Peer service, String path) throws PeerFailed {
    return good(service.ask("GET", path, token.get(), Body.NONE, TIMEOUT));
  }

  private static JsonObject good(Answer answer) throws PeerFailed {
    if (answer.status() != 200) {
      throw new PeerFailed("the audit was answered with " + answer.described());
    }
    return answer.json();
  }
}
