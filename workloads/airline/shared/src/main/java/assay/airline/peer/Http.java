package assay.airline.peer;

import jakarta.inject.Singleton;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/**
 * The client of a service, with kept connections: how many and for how long say the system
 * properties {@code jdk.httpclient.connectionPoolSize} and {@code
 * jdk.httpclient.keepalive.timeout}.
 */
@Singleton
public class Http {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_TIMEOUT)
          .build();

  HttpResponse<byte[]> send(HttpRequest request) throws IOException, InterruptedException {
    return client.send(request, BodyHandlers.ofByteArray());
  }
}
