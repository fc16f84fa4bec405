package assay.probes.receive;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A receive queue that one processor serves: {@code ReceiveQueue RESULTS SECONDS}, as root, in a
 * network and a mount namespace of its own ({@code unshare --net --mount}).
 *
 * <p>Another namespace, joined by a pair of virtual devices, sends datagrams of many flows from
 * processor 0, where the kernel then receives them all. RECEIVE_STEERING is the mask of processors
 * that they are steered to (RPS); 0 leaves them there. It runs from its source, whose path is in
 * RECEIVE_SOURCE. Nothing of the machine's own network is touched, and everything is gone with the
 * processes. The results are JMH's JSON: time per datagram received, and the largest share of a
 * processor's time that went into soft interrupts.
 */
public final class ReceiveQueue {
  private static final int PORT = 7447;
  private static final int FLOWS = 32;
  private static final int DATAGRAM_BYTES = 64;
  private static final int QUEUE_BYTES = 4 << 20;
  private static final double WARM_UP_S = 1;
  private static final String RECEIVER = "10.77.0.1";
  private static final String SENDER = "10.77.0.2";

  private ReceiveQueue() {}

  /** Makes both namespaces and receives, or is the sender. */
  public static void main(String[] words) throws IOException, InterruptedException {
    if (words[0].equals("send")) {
      send();
    } else {
      receive(Path.of(words[0]), Double.parseDouble(words[1]), System.getenv("RECEIVE_STEERING"));
    }
  }

  private static void receive(Path results, double seconds, String steering)
      throws IOException, InterruptedException {
    Process sender =
        new ProcessBuilder(
                "unshare",
                "--net",
                "--",
                "taskset",
                "-c",
                "0",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Xmx32m",
                System.getenv("RECEIVE_SOURCE"),
                "send")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      // It has its namespace when it speaks.
      if (!"ready".equals(sender.inputReader().readLine())) {
        throw new IllegalStateException("the sender did not start");
      }
      String pid = Long.toString(sender.pid());
      run("ip", "link", "add", "rq0", "type", "veth", "peer", "name", "rq1", "netns", pid);
      run("ip", "addr", "add", RECEIVER + "/30", "dev", "rq0");
      run("ip", "link", "set", "rq0", "up");
      run("nsenter", "-t", pid, "-n", "ip", "addr", "add", SENDER + "/30", "dev", "rq1");
      run("nsenter", "-t", pid, "-n", "ip", "link", "set", "rq1", "up");
      // That of this namespace's devices; the mount namespace is our own.
      run("mount", "-t", "sysfs", "sysfs", "/sys");
      Files.writeString(Path.of("/sys/class/net/rq0/queues/rx-0/rps_cpus"), steering);
      DatagramChannel channel = DatagramChannel.open();
      channel.setOption(StandardSocketOptions.SO_RCVBUF, QUEUE_BYTES);
      channel.bind(new InetSocketAddress(InetAddress.getByName(RECEIVER), PORT));
      sender.outputWriter().append("go\n").flush();
      count(channel, WARM_UP_S);
      List<long[]> before = processors();
      long begun = System.nanoTime();
      long datagrams = count(channel, seconds);
      double nsPerOp = (double) (System.nanoTime() - begun) / datagrams;
      write(results, nsPerOp, busiestPercent(before, processors()));
    } finally {
      sender.destroyForcibly().waitFor();
    }
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).inheritIO().start();
    if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new IllegalStateException(String.join(" ", command) + " failed");
    }
  }

  private static long count(DatagramChannel channel, double seconds) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(DATAGRAM_BYTES);
    long end = System.nanoTime() + (long) (seconds * 1e9);
    long datagrams = 0;
    while (System.nanoTime() < end) {
      buffer.clear();
      channel.receive(buffer);
      datagrams++;
    }
    if (datagrams == 0) {
      throw new IllegalStateException("nothing was received");
    }
    return datagrams;
  }

  /** By processor: all ticks, and those in soft interrupts; proc_stat(5). */
  private static List<long[]> processors() throws IOException {
    List<long[]> found = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of("/proc/stat"))) {
      String[] words = line.split(" +", -1);
      if (words[0].matches("cpu[0-9]+")) {
        long all = 0;
        // Guest time is within user time.
        for (int i = 1; i <= 8; i++) {
          all += Long.parseLong(words[i]);
        }
        found.add(new long[] {all, Long.parseLong(words[7])});
      }
    }
    return found;
  }

  private static double busiestPercent(List<long[]> before, List<long[]> after) {
    double most = 0;
    for (int i = 0; i < before.size(); i++) {
      double all = after.get(i)[0] - before.get(i)[0];
      most = Math.max(most, all == 0 ? 0 : 100 * (after.get(i)[1] - before.get(i)[1]) / all);
    }
    return most;
  }

  private static void write(Path results, double nsPerOp, double busiestPercent)
      throws IOException {
    Files.writeString(
        results,
        String.format(
            Locale.ROOT,
            "[{\"benchmark\":\"assay.probes.receive.ReceiveQueue.receive\",\"primaryMetric\":{\"scoreUnit\":\"ns/op\",\"rawData\":[[%f]]},"
                + "\"secondaryMetrics\":{\"busiest_softirq_percent\":{\"scoreUnit\":\"%%\",\"rawData\":[[%f]]}}}]",
            nsPerOp,
            busiestPercent));
  }

  private static void send() throws IOException {
    System.out.println("ready");
    BufferedReader leader =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    if (!"go".equals(leader.readLine())) {
      return;
    }
    // It ends with the receiver, however that ends.
    Thread end =
        new Thread(
            () -> {
              leader.lines().forEach(line -> {});
              Runtime.getRuntime().halt(0);
            });
    end.setDaemon(true);
    end.start();
    List<DatagramChannel> flows = new ArrayList<>();
    for (int i = 0; i < FLOWS; i++) {
      DatagramChannel flow = DatagramChannel.open();
      flow.connect(new InetSocketAddress(InetAddress.getByName(RECEIVER), PORT));
      flows.add(flow);
    }
    ByteBuffer buffer = ByteBuffer.allocateDirect(DATAGRAM_BYTES);
    while (true) {
      for (DatagramChannel flow : flows) {
        buffer.clear();
        flow.write(buffer);
      }
    }
  }
}
