import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Kills each of the five services under load, at a random instant, and starts it again. After each the audit must hold, while
 * customers go on; in the end each customer must have exactly the bookings that were acknowledged and not cancelled. Then a double
 * booking is planted, which the audit must find.
 *
 * <p>Arguments: the workload's folder, the built folder, a scratch folder, the rounds of kills, and, where customers go through a proxy, NGINX.
 */
public final class EndToEnd {
  private static final List<String> SERVICES = List.of("auth", "customer", "flight", "booking", "main");
  private static final List<String> STORES = List.of("customer", "flight", "booking");
  private static final int CUSTOMERS = 8;
  private static final int REQUESTS_BEFORE_KILL = 400;
  private static final String SECRET = "the secret of this test";
  /** Against a hang only. */
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private static final int READY_POLLS_MAX = 3_000;
  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]+)\"");
  private static final Pattern FLIGHT = Pattern.compile("\"flight\":\"([^\"]+)\"");
  private static final Pattern TOKEN = Pattern.compile("\"token\":\"([^\"]+)\"");

  private final Path workload;
  private final Path built;
  private final Path scratch;
  private final String nginx;
  /** Whom customers ask. */
  private final String front;

  private final Map<String, Integer> ports = new LinkedHashMap<>();
  private final Map<String, Process> processes = new LinkedHashMap<>();
  private final HttpClient client = client();

  private EndToEnd(String[] arguments) {
    workload = Path.of(arguments[0]);
    built = Path.of(arguments[1]);
    scratch = Path.of(arguments[2]);
    nginx = arguments[4];
    front = nginx.isEmpty() ? "main" : "nginx";
  }

  public static void main(String[] arguments) throws Exception {
    long seed = ThreadLocalRandom.current().nextLong();
    EndToEnd test = new EndToEnd(arguments);
    // An interrupted test leaves nothing behind.
    Runtime.getRuntime().addShutdownHook(new Thread(test::killAll));
    System.out.println("seed " + seed);
    test.run(new Random(seed), Integer.parseInt(arguments[3]));
  }

  private void run(Random random, int rounds) throws Exception {
    startAll();
    List<Customer> customers = new ArrayList<>();
    for (int i = 0; i < CUSTOMERS; i++) {
      customers.add(new Customer(i, random.nextLong()));
    }
    List<Thread> threads = customers.stream().map(Thread::new).toList();
    threads.forEach(Thread::start);
    for (int round = 0; round < rounds; round++) {
      for (String service : SERVICES) {
        killUnderLoad(service, customers, random);
      }
    }
    customers.forEach(c -> c.ends = true);
    for (Thread thread : threads) {
      thread.join();
    }
    check(customers);
    refuseTokens(customers.get(0));
    plantDoubleBooking();
  }

  private void killUnderLoad(String service, List<Customer> customers, Random random) throws Exception {
    long before = acknowledged(customers);
    while (acknowledged(customers) < before + REQUESTS_BEFORE_KILL) {
      requireRunning(customers);
      Thread.sleep(5);
    }
    Thread.sleep(random.nextInt(100));
    processes.get(service).destroyForcibly().waitFor();
    // Customers meet the gap.
    Thread.sleep(random.nextInt(1_000));
    long begun = System.nanoTime();
    startService(service);
    awaitReady(service);
    HttpResponse<String> audit = get("main", "/audit", "");
    require(audit.statusCode() == 200, service + " killed: audit fails: " + audit.body());
    long readyMs = (System.nanoTime() - begun) / 1_000_000;
    System.out.println(
        service + " killed after " + acknowledged(customers) + " requests, back and audited after "
            + readyMs + " ms: " + audit.body().replaceAll(",\"invariants.*", "}"));
  }

  private static long acknowledged(List<Customer> customers) {
    return customers.stream().mapToLong(c -> c.acknowledged).sum();
  }

  private static void requireRunning(List<Customer> customers) {
    for (Customer customer : customers) {
      require(customer.wrong == null, "customer " + customer.number + ": " + customer.wrong);
    }
  }

  private void check(List<Customer> customers) throws Exception {
    requireRunning(customers);
    long unclear = 0;
    for (Customer customer : customers) {
      Set<String> listed = new TreeSet<>();
      Matcher ids = ID.matcher(get(front, "/bookings", customer.token).body());
      while (ids.find()) {
        listed.add(ids.group(1));
      }
      require(
          listed.equals(new TreeSet<>(customer.booked)),
          "customer " + customer.number + " has " + listed + " and was acknowledged " + customer.booked);
      unclear += customer.repeated;
    }
    require(get("main", "/audit", "").statusCode() == 200, "the last audit fails");
    System.out.println(
        acknowledged(customers) + " requests acknowledged, " + unclear + " repeated until they were; all bookings are those"
            + " acknowledged and not cancelled");
  }

  /** Tokens that nobody signed, or not so, of the wrong group, or none. */
  private void refuseTokens(Customer customer) throws Exception {
    String[] parts = customer.token.split("\\.");
    String claims = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
    String others = encoded(claims.replace("\"c" + customer.number + "\"", "\"c999\""));
    String late = encoded(claims.replaceAll("\"exp\":\\d+", "\"exp\":4000000000"));
    String unsigned = encoded("{\"alg\":\"none\",\"typ\":\"JWT\"}");
    for (String token : List.of("", "x", parts[0] + "." + others + "." + parts[2], parts[0] + "." + late + "." + parts[2],
        unsigned + "." + parts[1] + ".", parts[0] + "." + parts[1] + ".")) {
      int status = send(front, "GET", "/bookings", token, "").statusCode();
      require(status == 401, "the token '" + token + "' gets " + status);
    }
    int status = get("flight", "/internal/ledger", customer.token).statusCode();
    require(status == 403, "a customer's token gets " + status + " of what is for services");
    require(get(front, "/bookings", customer.token).statusCode() == 200, "the token itself holds no longer");
    System.out.println("tokens that do not hold are refused");
  }

  private static String encoded(String json) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(json.getBytes(StandardCharsets.UTF_8));
  }

  /** A seat that is sold again, to a booking that nobody made. */
  private void plantDoubleBooking() throws Exception {
    HttpResponse<String> given = send("auth", "POST", "/auth/service", "", "secret=" + SECRET.replace(' ', '+'));
    String token = first(TOKEN, given.body());
    String seat = "/internal/seats/AMS-ATH-0-1/c0.planted";
    require(send("flight", "PUT", seat, token, "").statusCode() == 200, "a seat cannot be planted");
    HttpResponse<String> audit = get("main", "/audit", "");
    require(
        audit.statusCode() == 500 && audit.body().contains("\"failed\":[\"each_seat_taken_has_its_booking\"]"),
        "the planted booking is not found: " + audit.statusCode() + " " + audit.body());
    require(send("flight", "DELETE", seat, token, "").statusCode() == 200, "it cannot be taken back");
    require(get("main", "/audit", "").statusCode() == 200, "the audit fails without the planted booking");
    require(get("flight", "/internal/ledger", "").statusCode() == 401, "an internal resource answers without a token");
    System.out.println("a planted booking is found by the audit");
  }

  /** One customer who books and cancels, and repeats what was not answered, until told to end. */
  private final class Customer implements Runnable {
    private final HttpClient own = client();
    private final int number;
    private final Random random;
    private final Set<String> booked = new LinkedHashSet<>();
    private volatile String token;
    private volatile long acknowledged;
    private volatile long repeated;
    private volatile boolean ends;
    private volatile String wrong;

    Customer(int number, long seed) throws Exception {
      this.number = number;
      random = new Random(seed);
      login();
    }

    @Override
    public void run() {
      try {
        while (!ends) {
          if (booked.size() < 8 && random.nextInt(10) < 6) {
            book();
          } else if (!booked.isEmpty() && random.nextInt(10) < 6) {
            cancel();
          } else if (random.nextInt(10) < 2) {
            login();
          } else {
            query();
          }
        }
      } catch (IOException | InterruptedException | RuntimeException e) {
        wrong = e.toString();
      }
    }

    private void login() throws IOException, InterruptedException {
      token = first(TOKEN, until("POST", "/auth/login", "customer=c" + number + "&password=fly", 200));
    }

    private List<String> query() throws IOException, InterruptedException {
      String path = "/flights?from=JFK&to=LIS&day=" + random.nextInt(2) + "&stay=6";
      Matcher flights = FLIGHT.matcher(until("GET", path, "", 200));
      List<String> names = new ArrayList<>();
      while (flights.find()) {
        names.add(flights.group(1));
      }
      require(names.size() == 4, "flights out and back are wanted: " + names);
      return names;
    }

    private void book() throws IOException, InterruptedException {
      List<String> flights = query();
      String id = UUID.randomUUID().toString();
      String back = random.nextBoolean() ? "&back=" + flights.get(2) : "";
      String unused = until("PUT", "/bookings/" + id, "out=" + flights.get(0) + back, 201);
      booked.add(id);
    }

    private void cancel() throws IOException, InterruptedException {
      String id = List.copyOf(booked).get(random.nextInt(booked.size()));
      // Where an answer was lost, the repetition finds the booking gone.
      String unused = until("DELETE", "/bookings/" + id, "", 200, 404);
      booked.remove(id);
    }

    /** Repeats a request until it has an answer of those that may be. */
    private String until(String method, String path, String form, int... statuses)
        throws IOException, InterruptedException {
      while (true) {
        try {
          HttpResponse<String> answer = EndToEnd.this.send(own, front, method, path, token, form);
          for (int status : statuses) {
            if (answer.statusCode() == status && !isStarting(answer)) {
              acknowledged++;
              return answer.body();
            }
          }
          // 502 is the proxy's, whose service did not answer.
          require(answer.statusCode() == 503 || answer.statusCode() == 502 || isStarting(answer),
              method + " " + path + " got " + answer.statusCode() + " " + answer.body());
        } catch (IOException e) {
          // The kill: what this test is about.
        }
        repeated++;
        Thread.sleep(50);
      }
    }

    /** Open Liberty listens before it has the application, and says so in a page of its own. */
    private boolean isStarting(HttpResponse<String> answer) {
      return answer.statusCode() == 404 && !answer.body().startsWith("{");
    }
  }

  private void startAll() throws Exception {
    for (String store : STORES) {
      ports.put(store + "-store", freePort());
    }
    for (String service : SERVICES) {
      ports.put(service, freePort());
      copy(built.resolve("template-" + service), scratch.resolve(service));
    }
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    for (String store : STORES) {
      String name = store + "-store";
      start(name, List.of(java, "-Xmx192m", "-XX:+UseSerialGC", "-cp", built.resolve("store") + "/*",
          "assay.airline.store.Main", String.valueOf(ports.get(name))));
    }
    // Side by side: each waits until the others are there.
    for (String service : SERVICES) {
      startService(service);
    }
    for (String service : SERVICES) {
      awaitReady(service);
    }
    if (!nginx.isEmpty()) {
      startNginx();
      awaitReady("nginx");
    }
  }

  /** As workload.toml does, with the first word of each option. */
  private void startNginx() throws Exception {
    ports.put("nginx", freePort());
    Path folder = Files.createDirectory(scratch.resolve("nginx"));
    ProcessBuilder writes = builder("nginx-config", List.of("sh", workload.resolve("nginx-config").toString(), folder.toString(),
        String.valueOf(ports.get("nginx"))));
    writes.environment().putAll(Map.of("PROXY_KEEPALIVE_REQUESTS", "10000", "PROXY_UPSTREAM_KEEPALIVE", "64", "PROXY_WORKERS", "auto",
        "PROXY_CONNECTIONS", "4096", "PROXY_OPEN_FILES", "inherited", "PROXY_ACCESS_LOG", "off"));
    require(writes.start().waitFor() == 0, "nginx-config fails: " + logOf("nginx-config"));
    start("nginx", List.of(nginx, "-e", "stderr", "-p", folder.toString(), "-c", folder.resolve("nginx.conf").toString()));
  }

  private void startService(String service) throws IOException {
    start(service, List.of(workload.resolve("launch").toString(), service, scratch.resolve(service).toString(),
        String.valueOf(ports.get(service)), "jdk", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
  }

  private void start(String name, List<String> command) throws IOException {
    processes.put(name, builder(name, command).start());
  }

  private ProcessBuilder builder(String name, List<String> command) {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(scratch.resolve(name + ".log").toFile()));
    Map<String, String> environment = builder.environment();
    Path keys = scratch.resolve("keys");
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("AIRLINE_DATA", "small");
    environment.put("AIRLINE_SECRET", SECRET);
    environment.put("AIRLINE_KEYS", keys.toString());
    environment.put("AIRLINE_STORE", "mongodb://127.0.0.1:" + ports.get(name + "-store") + "/" + name);
    for (String service : SERVICES) {
      environment.put("AIRLINE_" + service.toUpperCase(), String.valueOf(ports.get(service)));
    }
    return builder;
  }

  private void killAll() {
    Process proxy = processes.remove("nginx");
    if (proxy != null) {
      // It takes its workers with it, if it is asked.
      proxy.destroy();
      try {
        boolean unused = proxy.waitFor(10, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    processes.values().forEach(Process::destroyForcibly);
  }

  private void awaitReady(String service) throws Exception {
    for (int i = 0; i < READY_POLLS_MAX; i++) {
      require(processes.get(service).isAlive(), service + " died before it was ready: " + logOf(service));
      try {
        if (get(service, "/health", "").statusCode() == 200) {
          return;
        }
      } catch (IOException e) {
        // Not listening yet: the next poll tells.
      }
      Thread.sleep(100);
    }
    throw new IOException(service + " did not get ready: " + logOf(service));
  }

  private String logOf(String name) throws IOException {
    List<String> lines = Files.readAllLines(scratch.resolve(name + ".log"));
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
  }

  private HttpResponse<String> get(String service, String path, String token) throws IOException, InterruptedException {
    return send(service, "GET", path, token, "");
  }

  private HttpResponse<String> send(String service, String method, String path, String token, String form)
      throws IOException, InterruptedException {
    return send(client, service, method, path, token, form);
  }

  private HttpResponse<String> send(
      HttpClient by, String service, String method, String path, String token, String form)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + ports.get(service) + path))
            .timeout(TIMEOUT)
            .method(method, form.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(form));
    if (!form.isEmpty()) {
      request.header("Content-Type", "application/x-www-form-urlencoded");
    }
    if (token != null && !token.isEmpty()) {
      request.header("Authorization", "Bearer " + token);
    }
    return by.send(request.build(), BodyHandlers.ofString());
  }

  private static String first(Pattern pattern, String text) {
    Matcher found = pattern.matcher(text);
    require(found.find(), "no " + pattern + " in " + text);
    return found.group(1);
  }

  private static HttpClient client() {
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  /** Below the ports that Linux gives to outgoing connections, one of which could take it. */
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
