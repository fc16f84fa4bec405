package assay.chat;

import assay.chat.room.Limits;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.stream.Stream;

/** A server in this JVM, on a port of its own. */
final class TestServer implements AutoCloseable {
  static final Limits LIMITS = Limits.DEFAULT;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Server server;

  TestServer(String engine) throws IOException {
    this(engine, LIMITS);
  }

  TestServer(String engine, Limits limits) throws IOException {
    server = new Server(new Settings("127.0.0.1", 0, engine, 2, limits));
    server.start();
  }

  /** The engines that this JVM can have. */
  static Stream<String> engines() {
    Stream<String> all = Stream.of("two-threads", "one-thread", "selector");
    return Runtime.version().feature() >= 21 ? Stream.concat(all, Stream.of("virtual")) : all;
  }

  int port() throws IOException {
    return server.address().getPort();
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path)).build(),
        BodyHandlers.ofString());
  }

  /** The audit, which must hold. */
  String audited() throws IOException, InterruptedException {
    HttpResponse<String> answer = get("/audit");
    if (answer.statusCode() != 200) {
      throw new AssertionError(answer.statusCode() + " " + answer.body());
    }
    return answer.body();
  }

  /** Says goodbye to all. */
  void end() throws IOException {
    server.close();
  }

  @Override
  public void close() throws IOException {
    end();
  }
}
