import java.io.IOException;
import java.net.BindException;
import java.net.CookieManager;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Kills a server under load in each order mode, starts it again, and checks that the audit holds
 * and that each customer's orders are those that were acknowledged: none lost, none done twice.
 * Arguments: the workload's folder, the built folder, a scratch folder, the database, order modes
 * (default: all).
 */
public final class EndToEnd {
  private static final List<String> ALL_MODES = List.of("synchronous", "queue", "managed-thread");
  private static final int CUSTOMERS = 6;
  private static final int ORDERS_BEFORE_KILL = 150;
  /** Against a hang only. */
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  private static final int READY_POLLS_MAX = 6_000;
  private static final Pattern ORDERS_SO_FAR = Pattern.compile("Orders so far</dt><dd>(\\d+)</dd>");

  private final Path workload;
  private final Path built;
  private final Path scratch;
  private final String database;

  private EndToEnd(String[] arguments) {
    workload = Path.of(arguments[0]);
    built = Path.of(arguments[1]);
    scratch = Path.of(arguments[2]);
    database = arguments[3];
  }

  public static void main(String[] arguments) throws Exception {
    EndToEnd test = new EndToEnd(arguments);
    List<String> modes = List.of(arguments).subList(4, arguments.length);
    for (String mode : modes.isEmpty() ? ALL_MODES : modes) {
      test.killUnderLoad(mode);
    }
  }

  private void killUnderLoad(String mode) throws Exception {
    Path folder = scratch.resolve(mode);
    copy(built.resolve("template-" + database + "-small"), folder);
    List<Customer> customers = new ArrayList<>();
    Process server = null;
    try {
      int port = freePort();
      server = start(folder, port, mode);
      awaitReady(port, server);
      for (int i = 0; i < CUSTOMERS; i++) {
        customers.add(new Customer(port, i));
      }
      trade(customers, server);
      int again = freePort();
      server = start(folder, again, mode);
      awaitReady(again, server);
      check(customers, again, mode);
    } finally {
      if (server != null) {
        server.destroyForcibly().waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
      }
    }
  }

  /** Customers trade side by side; the server is killed when enough orders are acknowledged. */
  private static void trade(List<Customer> customers, Process server) throws Exception {
    List<Thread> threads = customers.stream().map(Thread::new).toList();
    threads.forEach(Thread::start);
    while (customers.stream().mapToLong(c -> c.acknowledged).sum() < ORDERS_BEFORE_KILL) {
      require(server.isAlive(), "the server died by itself");
      require(threads.stream().anyMatch(Thread::isAlive), "no customer trades any more");
      Thread.sleep(5);
    }
    server.destroyForcibly().waitFor();
    for (Thread thread : threads) {
      thread.join();
    }
    for (Customer customer : customers) {
      require(customer.wrong == null, "customer " + customer.number + ": " + customer.wrong);
    }
  }

  private void check(List<Customer> customers, int port, String mode) throws Exception {
    HttpResponse<String> audit = get(client(), port, "/audit");
    require(audit.statusCode() == 200, mode + ": audit fails: " + audit.body());
    long acknowledged = 0;
    for (Customer customer : customers) {
      long added = new Customer(port, customer.number).before - customer.before;
      acknowledged += customer.acknowledged;
      // The order under way when the server died may have been done or not.
      require(
          added == customer.acknowledged || added == customer.acknowledged + 1,
          mode + ": customer " + customer.number + " has " + added + " new orders, "
              + customer.acknowledged + " were acknowledged");
    }
    String stats = get(client(), port, "/stats").body();
    Matcher recovered = Pattern.compile("\"order_recovered\":(\\d+)").matcher(stats);
    require(recovered.find(), "no order_recovered in " + stats);
    System.out.println(
        mode + ": " + acknowledged + " orders acknowledged, none lost or doubled after kill -9; "
            + recovered.group(1) + " were open and completed at the start; audit holds");
  }

  /** One customer who buys and sells in turn until the server is gone. */
  private static final class Customer implements Runnable {
    private final HttpClient client = client();
    private final int port;
    private final int number;
    private final long before;
    private volatile long acknowledged;
    private volatile String wrong;

    Customer(int port, int number) throws Exception {
      this.port = port;
      this.number = number;
      require(
          post("/login", "user=uid:" + number + "&password=xxx").statusCode() == 200, "login failed");
      Matcher orders = ORDERS_SO_FAR.matcher(get(client, port, "/account").body());
      require(orders.find(), "the account page does not show the number of orders");
      before = Long.parseLong(orders.group(1));
    }

    @Override
    public void run() {
      try {
        for (int i = 0; ; i++) {
          // The same symbols for all: customers meet at the rows of a few quotes.
          String order = "symbol=s:" + i % 5 + "&quantity=10";
          HttpResponse<String> answer = post(i % 2 == 0 ? "/buy" : "/sell", order);
          // A conflict is a right answer when all holdings are on their way.
          if (answer.statusCode() == 200) {
            acknowledged++;
          } else if (answer.statusCode() != 409) {
            wrong = "status " + answer.statusCode();
            return;
          }
        }
      } catch (IOException e) {
        // The kill: what this test is about.
      } catch (InterruptedException e) {
        wrong = "interrupted";
      }
    }

    private HttpResponse<String> post(String path, String form)
        throws IOException, InterruptedException {
      return client.send(
          HttpRequest.newBuilder(uri(port, path))
              .timeout(TIMEOUT)
              .header("Content-Type", "application/x-www-form-urlencoded")
              .POST(BodyPublishers.ofString(form))
              .build(),
          BodyHandlers.ofString());
    }
  }

  private Process start(Path folder, int port, String mode) throws IOException {
    List<String> command =
        List.of(
            workload.resolve("launch").toString(), folder.toString(), String.valueOf(port),
            database, mode, "small", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
    Process server =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("server.log").toFile()))
            .start();
    // An interrupted test leaves no server behind.
    Runtime.getRuntime().addShutdownHook(new Thread(server::destroyForcibly));
    return server;
  }

  private static void awaitReady(int port, Process server) throws Exception {
    for (int i = 0; i < READY_POLLS_MAX; i++) {
      require(server.isAlive(), "the server died before it was ready");
      try {
        if (get(client(), port, "/health").statusCode() == 200) {
          return;
        }
      } catch (IOException e) {
        // Not listening yet: the next poll tells.
      }
      Thread.sleep(100);
    }
    throw new IOException("the server did not get ready");
  }

  private static HttpClient client() {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .cookieHandler(new CookieManager())
        .build();
  }

  private static HttpResponse<String> get(HttpClient client, int port, String path)
      throws IOException, InterruptedException {
    return client.send(HttpRequest.newBuilder(uri(port, path)).timeout(TIMEOUT).build(), BodyHandlers.ofString());
  }

  private static URI uri(int port, String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  /**
   * Below the ports that Linux gives to outgoing connections: one of these could take it, or even
   * connect to itself, before the server listens.
   */
  private static int freePort() throws IOException {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (BindException e) {
        // Somebody's: another.
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> paths = Files.walk(from)) {
      for (Path path : paths.toList()) {
        Files.copy(path, to.resolve(from.relativize(path).toString()));
      }
    }
  }

  private static void require(boolean holds, String message) {
    if (!holds) {
      throw new IllegalStateException(message);
    }
  }
}
