package assay.chat.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * CPU time for each delivery, user and kernel: this server beside {@link NettyRooms}, both up at
 * the same time and loaded in turn, so that what disturbs the machine disturbs both. Arguments:
 * engine, connections, messages said per second, pairs of windows.
 */
public final class PeerComparison {
  private static final long WARM_UP_NS = TimeUnit.SECONDS.toNanos(8);
  private static final long WINDOW_NS = TimeUnit.SECONDS.toNanos(5);

  private PeerComparison() {}

  public static void main(String[] arguments) throws Exception {
    String engine = arguments[0];
    int connections = Integer.parseInt(arguments[1]);
    double rate = Double.parseDouble(arguments[2]);
    int pairs = Integer.parseInt(arguments[3]);
    try (Subject ours = new Subject("assay.chat.Main", engine, connections);
        Subject theirs = new Subject("assay.chat.peer.NettyRooms", engine, connections)) {
      ours.window(rate, WARM_UP_NS);
      theirs.window(rate, WARM_UP_NS);
      List<Double> ratios = new ArrayList<>();
      for (int pair = 0; pair < pairs; pair++) {
        // Ours first, theirs first, in turn.
        double first = (pair % 2 == 0 ? ours : theirs).window(rate, WINDOW_NS);
        double second = (pair % 2 == 0 ? theirs : ours).window(rate, WINDOW_NS);
        double mine = pair % 2 == 0 ? first : second;
        double peers = pair % 2 == 0 ? second : first;
        ratios.add(mine / peers);
        System.out.printf("%s %.2f us, Netty %.2f us for each delivery%n", engine, mine, peers);
      }
      ratios.sort(null);
      System.out.printf(
          "%s / Netty at %d connections: median ratio %.2f, lowest %.2f, highest %.2f of %d pairs%n",
          engine, connections, median(ratios), ratios.get(0), ratios.get(pairs - 1), pairs);
    }
  }

  private static double median(List<Double> sorted) {
    int size = sorted.size();
    return (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
  }

  /** A server in a JVM of its own, and its users. */
  private static final class Subject implements AutoCloseable {
    private final Process process;
    private final Crowd crowd;

    Subject(String main, String engine, int connections) throws IOException {
      ProcessBuilder builder =
          new ProcessBuilder(
              ProcessHandle.current().info().command().orElse("java"),
              "-Xmx256m",
              "-XX:+UseSerialGC",
              "-cp",
              System.getProperty("java.class.path"),
              main);
      builder.environment().putAll(Map.of("CHAT_PORT", "0", "CHAT_ENGINE", engine));
      builder.redirectError(ProcessBuilder.Redirect.INHERIT);
      process = builder.start();
      BufferedReader said =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      String ready = said.readLine();
      if (ready == null) {
        throw new IOException(main + " did not start");
      }
      int port = Integer.parseInt(ready.substring(ready.lastIndexOf(':') + 1));
      crowd = new Crowd(port, connections);
    }

    /** Microseconds of CPU time for each delivery. */
    double window(double rate, long durationNs) throws IOException {
      Duration before = cpuTime();
      long deliveries = crowd.talk(rate, durationNs);
      return cpuTime().minus(before).toNanos() / 1e3 / deliveries;
    }

    private Duration cpuTime() {
      return process.info().totalCpuDuration().orElseThrow();
    }

    @Override
    public void close() throws IOException {
      crowd.close();
      process.destroyForcibly();
    }
  }
}
