package assay.supermarket.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.CompanyKeys;
import assay.supermarket.message.Delivery;
import assay.supermarket.message.Message;
import assay.supermarket.message.OrderLine;
import assay.supermarket.tier.Tiers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HttpTransportTest {
  private final Tiers tiers = Tiers.from(Map.of());
  private HttpServer server;

  @AfterEach
  void close() {
    if (server != null) {
      server.stop(0);
    }
    tiers.close();
  }

  /** A server that gives to each post to /link what the function says; a failure is a 400. */
  private String serve(Function<byte[], CompletionStage<byte[]>> door) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(tiers.post());
    server.createContext(GroupLink.PATH, exchange -> answer(exchange, door));
    server.start();
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  private static void answer(HttpExchange exchange, Function<byte[], CompletionStage<byte[]>> door)
      throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    byte[] answer;
    try {
      answer = door.apply(body).toCompletableFuture().join();
    } catch (CompletionException e) {
      exchange.sendResponseHeaders(400, -1);
      exchange.close();
      return;
    }
    exchange.sendResponseHeaders(200, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  @Test
  void agentsOfTwoGroupsTalkOverHttp() throws IOException {
    CompanyKeys keys = CompanyKeys.fresh();
    AgentId supplier = new AgentId("b", "supplier", 0);
    Agent agent =
        new Agent() {
          @Override
          public AgentId id() {
            return supplier;
          }

          @Override
          public CompletionStage<? extends Message> receive(Message message) {
            long sum = ((Delivery) message).lines().stream().mapToLong(OrderLine::quantity).sum();
            return CompletableFuture.completedFuture(new Acknowledgement(sum));
          }
        };
    try (GroupLink b = new GroupLink("b", Map.of(), keys, tiers.post())) {
      b.add(agent);
      try (GroupLink a = new GroupLink("a", Map.of("b", serve(b::receive)), keys, tiers.post())) {
        List<OrderLine> lines = IntStream.range(0, 60).mapToObj(i -> new OrderLine(i, i)).toList();
        var answers =
            LongStream.range(0, 200)
                .mapToObj(
                    i -> a.send(supplier, new Delivery("a", i, i, lines), Acknowledgement.class))
                .toList();
        for (var answer : answers) {
          assertThat(answer.toCompletableFuture().join().sequence()).isEqualTo(59 * 60 / 2);
        }
        assertThat(a.counts().get("b").answered()).isEqualTo(200);
        assertThat(b.counts().get("a").received()).isEqualTo(200);
      }
      assertThatThrownBy(() -> b.receive(new byte[9]).toCompletableFuture().join())
          .hasMessageContaining("not an envelope");
    }
  }

  @Test
  void anAnswerWithoutEndIsNotTaken() throws IOException {
    String address =
        serve(body -> CompletableFuture.completedFuture(new byte[GroupLink.BYTES_MAX + 1]));
    HttpTransport transport = new HttpTransport(Map.of("b", address), tiers.post());
    assertThatThrownBy(() -> transport.exchange("b", new byte[3]).toCompletableFuture().join())
        .hasMessageContaining("an answer of more than");
  }

  @Test
  void failuresOfTheOtherSideAreFailures() throws IOException {
    String address = serve(body -> CompletableFuture.failedFuture(new IOException("no")));
    HttpTransport transport =
        new HttpTransport(Map.of("b", address, "down", "127.0.0.1:1"), tiers.post());
    assertThatThrownBy(() -> transport.exchange("b", new byte[3]).toCompletableFuture().join())
        .hasMessageContaining("answered 400");
    assertThatThrownBy(() -> transport.exchange("down", new byte[3]).toCompletableFuture().join())
        .hasCauseInstanceOf(IOException.class);
  }

  @Test
  void anAddressThatIsNoneIsRefusedAtTheStart() {
    for (String address : List.of("", "x", "x:", ":80", "x:y", "u@x:80", "a b:80", "x:80:90")) {
      assertThatThrownBy(() -> new HttpTransport(Map.of("b", address), tiers.post()))
          .as(address)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("b=" + address);
    }
  }
}
