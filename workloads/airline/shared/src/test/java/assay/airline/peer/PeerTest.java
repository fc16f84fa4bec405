package assay.airline.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PeerTest {
  private final List<HttpServer> servers = new ArrayList<>();
  private final List<String> asked = Collections.synchronizedList(new ArrayList<>());

  @AfterEach
  void stop() {
    servers.forEach(server -> server.stop(0));
  }

  private URI server(String name) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String body =
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          asked.add(
              name
                  + " "
                  + exchange.getRequestMethod()
                  + " "
                  + exchange.getRequestURI()
                  + " "
                  + exchange.getRequestHeaders().getFirst("Authorization")
                  + " "
                  + body);
          byte[] answer = "{\"name\":\"x\"}".getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(201, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
    servers.add(server);
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Nobody listens there any more. */
  private static URI nobody() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return URI.create("http://127.0.0.1:" + socket.getLocalPort());
    }
  }

  @Test
  void instancesAreAskedInTurnWithTokenAndForm() throws Exception {
    Peer peer = new Peer("p", List.of(server("a"), server("b")), new Http());
    Answer answer = peer.ask("PUT", "/x?y=1", "T", Body.form("k", "v w"));
    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.contentType()).isEqualTo("application/json");
    assertThat(answer.json().getString("name")).isEqualTo("x");
    assertThat(peer.ask("GET", "/z", "", Body.NONE).status()).isEqualTo(201);
    assertThat(asked).containsExactly("a PUT /x?y=1 Bearer T k=v+w", "b GET /z null ");
  }

  @Test
  void anInstanceThatTakesNoConnectionIsPassedOver() throws Exception {
    Peer peer = new Peer("p", List.of(nobody(), server("a")), new Http());
    for (int i = 0; i < 4; i++) {
      assertThat(peer.ask("GET", "/", "", Body.NONE).status()).isEqualTo(201);
    }
  }

  @Test
  void whereNobodyAnswersTheServiceIsNamed() throws Exception {
    Peer peer = new Peer("flight", List.of(nobody()), new Http());
    assertThatThrownBy(() -> peer.ask("GET", "/", "", Body.NONE))
        .isInstanceOf(PeerFailed.class)
        .hasMessageContaining("flight cannot be reached");
  }

  @Test
  void anAnswerThatIsNoJsonIsAFailureNotADefect() {
    byte[] html = "<html>".getBytes(StandardCharsets.UTF_8);
    assertThatThrownBy(() -> new Answer(500, "text/html", html).json())
        .isInstanceOf(PeerFailed.class);
  }
}
