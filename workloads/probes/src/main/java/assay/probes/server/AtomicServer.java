package assay.probes.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Answers each request for {@code /count} after a known number of atomic increments: {@code PORT
 * INCREMENTS}. {@code /audit} says whether none was lost.
 */
public final class AtomicServer {
  private final AtomicLong counter = new AtomicLong();
  private final AtomicLong requests = new AtomicLong();
  private final int increments;

  private AtomicServer(int increments) {
    this.increments = increments;
  }

  /** Serves on loopback only. */
  public static void main(String[] words) throws IOException {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
    AtomicServer atomic = new AtomicServer(Integer.parseInt(words[1]));
    HttpServer server = HttpServer.create(address, 0);
    server.createContext("/count", exchange -> answer(exchange, 200, atomic.count()));
    server.createContext("/audit", atomic::audit);
    server.start();
  }

  private long count() {
    for (int i = 0; i < increments; i++) {
      counter.getAndIncrement();
    }
    requests.getAndIncrement();
    return counter.get();
  }

  private void audit(HttpExchange exchange) throws IOException {
    boolean isComplete = counter.get() == requests.get() * increments;
    answer(exchange, isComplete ? 200 : 500, counter.get());
  }

  private static void answer(HttpExchange exchange, int status, long number) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      byte[] body = (number + "\n").getBytes(UTF_8);
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
    }
  }
}
