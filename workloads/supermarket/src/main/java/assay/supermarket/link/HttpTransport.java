package assay.supermarket.link;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** Carries envelopes over HTTP/1.1: a POST to the other group's {@value #PATH} for each. */
final class HttpTransport implements Transport {
  static final String PATH = "/link";
  static final String CONTENT_TYPE = "application/octet-stream";

  /** Longer than any request to headquarters takes; what takes longer still is asked for again. */
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(10);

  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(2);
  private static final int OK = 200;

  private final Map<String, URI> peers;
  private final HttpClient client;

  /**
   * @param peers the other groups, each with {@code host:port}
   */
  HttpTransport(Map<String, String> peers, Executor executor) {
    Map<String, URI> places = new HashMap<>();
    peers.forEach((group, address) -> places.put(group, place(group, address)));
    this.peers = Map.copyOf(places);
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .proxy(HttpClient.Builder.NO_PROXY)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT_WITHIN)
            .executor(executor)
            .build();
  }

  private static URI place(String group, String address) {
    URI place;
    try {
      place = URI.create("http://" + address + PATH);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(group + "=" + address + " is not host:port", e);
    }
    if (place.getHost() == null || place.getPort() < 1 || place.getUserInfo() != null) {
      throw new IllegalArgumentException(group + "=" + address + " is not host:port");
    }
    return place;
  }

  @Override
  public CompletionStage<byte[]> exchange(String group, byte[] envelope) {
    URI place = peers.get(group);
    if (place == null) {
      throw new IllegalArgumentException("group " + group + " is not among the peers");
    }
    HttpRequest request =
        HttpRequest.newBuilder(place)
            .timeout(ANSWER_WITHIN)
            .header("Content-Type", CONTENT_TYPE)
            .POST(HttpRequest.BodyPublishers.ofByteArray(envelope))
            .build();
    return client
        .sendAsync(request, info -> new BoundedBody(EnvelopeCodec.BYTES_MAX))
        .thenCompose(HttpTransport::body);
  }

  private static CompletionStage<byte[]> body(HttpResponse<byte[]> response) {
    if (response.statusCode() != OK) {
      return CompletableFuture.failedFuture(
          new IOException(response.uri() + " answered " + response.statusCode()));
    }
    return CompletableFuture.completedFuture(response.body());
  }
}
