import java.io.IOException;
import java.net.BindException;
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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Several groups of one company, each a JVM of its own, trade with customers and each other. In the
 * end the audit must hold, and the receipts must be those that customers got: none lost, none
 * written twice. Then one controller loads all groups. Arguments: the folder of the server's jars,
 * a scratch folder, the program that makes that load ({@code e2e}), then {@code address@namespace}
 * for each group, with {@code -} for the namespace of this process.
 */
public final class GroupsTest {
  private static final int CUSTOMERS_AT_ONCE = 6;
  private static final int SALES_MIN = 300;
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** Against a hang only: for starts, for sales, and for the company's rest. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final String UNFINISHED = "the audit could not be finished";
  private static final Pattern RECEIPTS = Pattern.compile("\"receipts\\.count\":(\\d+)");

  /** A group: where it is, its process, and what its customers know. */
  private static final class Group {
    final String name;
    final String address;
    final String namespace;
    final int port;
    final AtomicLong sold = new AtomicLong();

    /** Purchases that were sent and had no answer: done or not. */
    final AtomicLong unknown = new AtomicLong();

    Process process;

    Group(String name, String address, String namespace, Set<Integer> taken) throws IOException {
      this.name = name;
      this.address = address;
      this.namespace = namespace;
      this.port = namespace.equals("-") ? freePort(taken) : 8080;
    }

    URI page(String path) {
      return URI.create("http://" + address + ":" + port + path);
    }

    /**
     * Below the ports that Linux gives to outgoing connections: one of these could take it, or even
     * connect to itself, before the group listens.
     */
    private static int freePort(Set<Integer> taken) throws IOException {
      while (true) {
        int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
        try (ServerSocket socket = new ServerSocket(port)) {
          if (taken.add(port)) {
            return socket.getLocalPort();
          }
        } catch (BindException e) {
          // Somebody's: another.
        }
      }
    }
  }

  private final Path jars;
  private final Path scratch;
  private final String loader;
  private final List<Group> groups = new ArrayList<>();
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .proxy(HttpClient.Builder.NO_PROXY)
          .connectTimeout(TIMEOUT)
          .build();
  private volatile boolean trading = true;

  private GroupsTest(String[] arguments) throws IOException {
    jars = Path.of(arguments[0]);
    scratch = Path.of(arguments[1]);
    loader = arguments[2];
    Set<Integer> taken = new HashSet<>();
    for (int i = 3; i < arguments.length; i++) {
      String[] place = arguments[i].split("@", 2);
      groups.add(new Group(Character.toString('a' + i - 3), place[0], place[1], taken));
    }
  }

  public static void main(String[] arguments) throws Exception {
    GroupsTest test = new GroupsTest(arguments);
    try {
      test.trade();
      test.loadByOneController();
    } catch (Exception | AssertionError e) {
      for (Group group : test.groups) {
        System.err.println("-- log of " + group.name);
        System.err.print(Files.readString(test.log(group)));
      }
      throw e;
    } finally {
      for (Group group : test.groups) {
        if (group.process != null) {
          group.process.destroyForcibly().waitFor();
        }
      }
    }
  }

  private void trade() throws Exception {
    for (Group group : groups) {
      start(group);
    }
    for (Group group : groups) {
      awaitReady(group);
    }
    List<Thread> customers = new ArrayList<>();
    for (int i = 0; i < CUSTOMERS_AT_ONCE; i++) {
      long seed = i;
      Thread customer = new Thread(() -> shop(new SplittableRandom(seed)), "customer-" + i);
      customer.start();
      customers.add(customer);
    }
    try {
      awaitSales();
    } finally {
      trading = false;
      for (Thread customer : customers) {
        customer.join();
      }
    }
    check();
  }

  private void start(Group group) throws IOException {
    List<String> command = new ArrayList<>();
    if (!group.namespace.equals("-")) {
      command.addAll(List.of("ip", "netns", "exec", group.namespace));
    }
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    command.addAll(List.of(java.toString(), "-Xmx256m", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", jars + "/*", "assay.supermarket.Main"));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log(group).toFile()));
    String peers =
        groups.stream()
            .map(peer -> peer.name + "=" + peer.address + ":" + peer.port)
            .collect(Collectors.joining(","));
    builder
        .environment()
        .putAll(
            Map.of(
                "SUPERMARKET_GROUP", group.name,
                "SUPERMARKET_PEERS", peers,
                "SUPERMARKET_ADDRESS", group.address,
                "SUPERMARKET_PORT", Integer.toString(group.port),
                "SUPERMARKET_KEYS", scratch.resolve("keys").toString(),
                "SUPERMARKET_DATA", "small",
                "SUPERMARKET_PARTNER_PERMILLE", "500"));
    group.process = builder.start();
  }

  private Path log(Group group) {
    return scratch.resolve(group.name + ".log");
  }

  private void awaitReady(Group group) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (group.process.isAlive() && System.nanoTime() < end) {
      try {
        HttpRequest request = HttpRequest.newBuilder(group.page("/health")).timeout(TIMEOUT).build();
        if (client.send(request, BodyHandlers.ofString()).statusCode() == 200) {
          return;
        }
      } catch (IOException e) {
        // Not yet.
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    throw new AssertionError("group " + group.name + " did not start");
  }

  private void awaitSales() throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (System.nanoTime() < end) {
      if (groups.stream().mapToLong(group -> group.sold.get()).sum() >= SALES_MIN) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    throw new AssertionError("customers buy nothing any more");
  }

  private void shop(SplittableRandom random) {
    while (trading) {
      Group group = groups.get(random.nextInt(groups.size()));
      String path =
          "/purchase/%s?supermarket=%d&customer=%d&seed=%d"
              .formatted(
                  random.nextBoolean() ? "online" : "in-store",
                  random.nextInt(2),
                  random.nextInt(2_000),
                  random.nextLong(1_000_000_000));
      HttpRequest request =
          HttpRequest.newBuilder(group.page(path))
              .timeout(TIMEOUT)
              .POST(BodyPublishers.noBody())
              .build();
      try {
        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
          group.unknown.incrementAndGet();
        } else if (answer.body().contains("\"state\":\"sold\"")) {
          group.sold.incrementAndGet();
        }
      } catch (IOException e) {
        group.unknown.incrementAndGet();
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void loadByOneController() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(loader, "one-controller"));
    groups.forEach(group -> command.add(group.page("") + "@" + group.namespace));
    if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
      throw new AssertionError("the load by one controller failed");
    }
  }

  /** Asked again where the company was not at rest in the time that an audit waits: no verdict. */
  private HttpResponse<String> audit() throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(groups.get(0).page("/audit")).timeout(PATIENCE).build();
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      HttpResponse<String> audit = client.send(request, BodyHandlers.ofString());
      if (!audit.body().contains(UNFINISHED) || System.nanoTime() > end) {
        return audit;
      }
    }
  }

  private void check() throws Exception {
    HttpResponse<String> audit = audit();
    if (audit.statusCode() != 200 || !audit.body().contains("\"holds\":true")) {
      throw new AssertionError("the audit does not hold: " + audit.body());
    }
    Matcher receipts = RECEIPTS.matcher(audit.body());
    if (!receipts.find()) {
      throw new AssertionError("the audit does not count receipts: " + audit.body());
    }
    long written = Long.parseLong(receipts.group(1));
    long sold = 0;
    long unknown = 0;
    StringBuilder each = new StringBuilder();
    for (Group group : groups) {
      sold += group.sold.get();
      unknown += group.unknown.get();
      each.append(" %s %d+%d".formatted(group.name, group.sold.get(), group.unknown.get()));
      if (group.sold.get() == 0) {
        throw new AssertionError("group " + group.name + " sold nothing");
      }
    }
    System.out.printf("%d receipts; customers have, and perhaps have:%s%n", written, each);
    if (written < sold || written > sold + unknown) {
      throw new AssertionError(
          written + " receipts, but customers have " + sold + " and at most " + unknown + " more");
    }
  }
}
