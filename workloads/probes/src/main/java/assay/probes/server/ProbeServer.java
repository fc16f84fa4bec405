package assay.probes.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import assay.probes.Phases;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * A probe that is asked by HTTP, so that a study can run it as any server: {@code PORT KIND
 * AMOUNT...}. It answers once the first amount is held: {@code /ready} and {@code /hold} say what
 * is held, {@code /phase?COMMAND} follows a command.
 */
public final class ProbeServer {
  private final Phases phases;

  ProbeServer(Phases phases) {
    this.phases = phases;
  }

  public static void main(String[] arguments) throws IOException {
    List<String> words = List.of(arguments);
    if (words.size() < 2) {
      System.err.println("usage: PORT KIND AMOUNT...");
      System.exit(2);
    }
    Experiment experiment = Experiment.of(words.subList(1, words.size()));
    Phases phases = new Phases(experiment.kind(), experiment.amounts());
    new ProbeServer(phases).start(Integer.parseInt(words.get(0)));
  }

  /** Serves on loopback only; returns the server, which runs until it is stopped. */
  HttpServer start(int port) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    HttpServer server = HttpServer.create(address, 0);
    server.createContext("/ready", exchange -> answer(exchange, phases.ready()));
    server.createContext("/hold", exchange -> answer(exchange, phases.follow("hold")));
    server.createContext(
        "/phase",
        exchange -> {
          String query = exchange.getRequestURI().getQuery();
          answer(exchange, phases.follow(query == null ? "" : query.replace('+', ' ')));
        });
    server.start();
    return server;
  }

  private static void answer(HttpExchange exchange, String json) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      byte[] body = (json + "\n").getBytes(UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(json.startsWith("{\"error\"") ? 400 : 200, body.length);
      exchange.getResponseBody().write(body);
    }
  }
}
