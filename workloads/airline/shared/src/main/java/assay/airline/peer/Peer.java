package assay.airline.peer;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Another service, in one instance or in several that are asked in turn. */
public final class Peer {
  /** Shorter than the load's own, so that whoever waits learns which service did not answer. */
  private static final Duration TIMEOUT = Duration.ofSeconds(8);

  private final String name;
  private final List<URI> instances;
  private final Http http;
  private final AtomicInteger turn = new AtomicInteger();

  public Peer(String name, List<URI> instances, Http http) {
    this.name = name;
    this.instances = List.copyOf(instances);
    this.http = http;
  }

  public List<URI> instances() {
    return instances;
  }

  /**
   * Asks the next instance that takes a connection; nothing that may have been sent is repeated.
   */
  public Answer ask(String method, String path, String token, Body body) throws PeerFailed {
    return ask(method, path, token, body, TIMEOUT);
  }

  /** The same with a time of its own. */
  public Answer ask(String method, String path, String token, Body body, Duration timeout)
      throws PeerFailed {
    int first = Math.floorMod(turn.getAndIncrement(), instances.size());
    ConnectException refused = null;
    for (int i = 0; i < instances.size(); i++) {
      URI instance = instances.get((first + i) % instances.size());
      try {
        return send(instance, request(instance, method, path, token, body, timeout));
      } catch (ConnectException e) {
        refused = e;
      }
    }
    throw new PeerFailed(name + " cannot be reached at " + instances, refused);
  }

  /** Asks one instance. */
  public Answer askOne(
      URI instance, String method, String path, String token, Body body, Duration timeout)
      throws PeerFailed {
    try {
      return send(instance, request(instance, method, path, token, body, timeout));
    } catch (ConnectException e) {
      throw new PeerFailed(name + " cannot be reached at " + instance, e);
    }
  }

  private Answer send(URI instance, HttpRequest request) throws PeerFailed, ConnectException {
    try {
      HttpResponse<byte[]> response = http.send(request);
      String type =
          response.headers().firstValue("Content-Type").orElse("application/octet-stream");
      return new Answer(response.statusCode(), type, response.body());
    } catch (ConnectException e) {
      throw e;
    } catch (IOException e) {
      throw new PeerFailed(name + " at " + instance + " did not answer: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PeerFailed("interrupted while waiting for " + name, e);
    }
  }

  private static HttpRequest request(
      URI instance, String method, String path, String token, Body body, Duration timeout) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(instance + path))
            .timeout(timeout)
            .method(
                method,
                body.bytes().length == 0
                    ? BodyPublishers.noBody()
                    : BodyPublishers.ofByteArray(body.bytes()));
    if (!body.contentType().isEmpty()) {
      request.header("Content-Type", body.contentType());
    }
    if (!token.isEmpty()) {
      request.header("Authorization", "Bearer " + token);
    }
    return request.build();
  }
}
