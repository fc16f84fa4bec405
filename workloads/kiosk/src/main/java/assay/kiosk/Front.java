package assay.kiosk;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

/** The shop by HTTP, on loopback only. */
final class Front {
  private static final int THREADS = 16;

  private final Shop shop;
  private final Map<String, LongAdder> counts = new TreeMap<>();
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
  private HttpServer server;

  /** What a path answers: JSON, or {@code null} where there is nothing of that name. */
  private interface Operation {
    Object answer(Map<String, String> asked);
  }

  Front(Shop shop) {
    this.shop = shop;
  }

  void start(int port) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    server = HttpServer.create(address, 0);
    server.setExecutor(threads);
    add("product", "GET", asked -> shop.product(number(asked, "id")));
    add("search", "GET", asked -> shop.search(text(asked, "word")));
    add("buy", "POST", asked -> shop.buy(number(asked, "customer"), seed(asked)));
    add("history", "GET", asked -> shop.history(number(asked, "customer")));
    server.createContext("/health", exchange -> write(exchange, 200, "{\"ready\":true}"));
    server.createContext("/stats", exchange -> write(exchange, 200, stats().toString()));
    server.createContext("/audit", this::audit);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  void stop() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void add(String name, String method, Operation operation) {
    LongAdder count = new LongAdder();
    counts.put(name, count);
    server.createContext(
        "/" + name,
        exchange -> {
          if (!exchange.getRequestMethod().equals(method)) {
            write(exchange, 405, problem("only " + method));
            return;
          }
          Object answer;
          try {
            answer = operation.answer(query(exchange));
          } catch (IllegalArgumentException e) {
            write(exchange, 400, problem(e.getMessage()));
            return;
          }
          if (answer == null) {
            write(exchange, 404, problem("there is none"));
            return;
          }
          count.increment();
          write(exchange, 200, answer.toString());
        });
  }

  private void audit(HttpExchange exchange) throws IOException {
    List<String> wrong = shop.audit();
    Json list = Json.array();
    wrong.forEach(list::add);
    Json answer =
        Json.object()
            .with("right", wrong.isEmpty())
            .with("receipts", shop.receipts())
            .with("wrong", list);
    write(exchange, wrong.isEmpty() ? 200 : 500, answer.toString());
  }

  private Json stats() {
    Json operations = Json.object();
    counts.forEach((name, count) -> operations.with(name, count.sum()));
    return Json.object().with("schema", "assay.kiosk-stats/1").with("operations", operations);
  }

  private static String problem(String text) {
    return Json.object().with("problem", text).toString();
  }

  private static Map<String, String> query(HttpExchange exchange) {
    Map<String, String> asked = new HashMap<>();
    String query = exchange.getRequestURI().getQuery();
    if (query != null) {
      for (String part : query.split("&", -1)) {
        int at = part.indexOf('=');
        if (at > 0) {
          asked.put(part.substring(0, at), part.substring(at + 1));
        }
      }
    }
    return asked;
  }

  private static String text(Map<String, String> asked, String name) {
    String value = asked.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + " is missing");
    }
    return value;
  }

  /** A {@code NumberFormatException} is an {@code IllegalArgumentException}. */
  private static int number(Map<String, String> asked, String name) {
    return Integer.parseInt(text(asked, name));
  }

  private static long seed(Map<String, String> asked) {
    return Long.parseLong(text(asked, "seed"));
  }

  private static void write(HttpExchange exchange, int status, String json) throws IOException {
    byte[] body = json.getBytes(UTF_8);
    byte[] rest = new byte[1024];
    // A connection can be used again only when its request was read to its end.
    try (InputStream asked = exchange.getRequestBody()) {
      int read;
      do {
        read = asked.read(rest);
      } while (read >= 0);
    }
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }
}
