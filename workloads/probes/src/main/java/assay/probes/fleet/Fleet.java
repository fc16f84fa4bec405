package assay.probes.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Several JVMs that collect at the same time on one machine: {@code Fleet RESULTS COUNT SECONDS
 * [JVM OPTION...]}.
 *
 * <p>Each JVM keeps some live data and replaces a part of it in every operation, so that its
 * collector has to copy. They begin together. The results are JMH's JSON: time and CPU time (with
 * that of the GC threads) per operation of one JVM. It runs from its source, whose path is in
 * FLEET_SOURCE, so that the JVMs under test are those of the study.
 */
public final class Fleet {
  private static final int LIVE_OBJECTS = 200_000;
  private static final int REPLACED = 5_000;
  private static final double WARM_UP_S = 2;

  private Fleet() {}

  /** Starts the JVMs, or is one of them. */
  public static void main(String[] words) throws IOException, InterruptedException {
    if (words[0].equals("member")) {
      member(Double.parseDouble(words[1]));
    } else {
      lead(words);
    }
  }

  private static void lead(String[] words) throws IOException, InterruptedException {
    int count = Integer.parseInt(words[1]);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(words).subList(3, words.length));
    command.addAll(List.of(System.getenv("FLEET_SOURCE"), "member", words[2]));
    List<Process> members = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        members.add(
            new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
      }
      List<BufferedReader> said = members.stream().map(Process::inputReader).toList();
      for (BufferedReader one : said) {
        expect(one.readLine(), "ready");
      }
      for (Process member : members) {
        member.outputWriter().append("go\n").flush();
      }
      double nsPerOp = 0;
      double cpuNsPerOp = 0;
      for (BufferedReader one : said) {
        String[] figures = String.valueOf(one.readLine()).split(" ", -1);
        expect(figures[0], "done");
        nsPerOp += Double.parseDouble(figures[1]) / count;
        cpuNsPerOp += Double.parseDouble(figures[2]) / count;
      }
      write(Path.of(words[0]), nsPerOp, cpuNsPerOp);
    } finally {
      members.forEach(Process::destroyForcibly);
      for (Process member : members) {
        member.waitFor();
      }
    }
  }

  private static void expect(String found, String wanted) {
    if (!wanted.equals(found)) {
      throw new IllegalStateException("a JVM of the fleet said " + found + ", not " + wanted);
    }
  }

  private static void write(Path results, double nsPerOp, double cpuNsPerOp) throws IOException {
    Files.writeString(
        results,
        String.format(
            Locale.ROOT,
            "[{\"benchmark\":\"assay.probes.fleet.Fleet.replace\",\"primaryMetric\":{\"scoreUnit\":\"ns/op\",\"rawData\":[[%f]]},"
                + "\"secondaryMetrics\":{\"cpu_ns_per_op\":{\"scoreUnit\":\"ns/op\",\"rawData\":[[%f]]}}}]",
            nsPerOp,
            cpuNsPerOp));
  }

  private static void member(double seconds) throws IOException {
    Object[] live = new Object[LIVE_OBJECTS];
    for (int i = 0; i < live.length; i++) {
      live[i] = new long[8];
    }
    System.out.println("ready");
    expect(
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine(),
        "go");
    run(live, WARM_UP_S);
    long cpuBefore = cpuNs();
    long begun = System.nanoTime();
    long operations = run(live, seconds);
    double tookNs = System.nanoTime() - begun;
    double usedNs = cpuNs() - cpuBefore;
    System.out.printf(Locale.ROOT, "done %f %f%n", tookNs / operations, usedNs / operations);
  }

  /**
   * CPU time of this JVM, collector and compilers included, in steps of the kernel's clock tick.
   */
  private static long cpuNs() {
    return ProcessHandle.current()
        .info()
        .totalCpuDuration()
        .orElseThrow(() -> new IllegalStateException("this system does not report CPU time"))
        .toNanos();
  }

  /** Operations in so many seconds. */
  private static long run(Object[] live, double seconds) {
    long end = System.nanoTime() + (long) (seconds * 1e9);
    long operations = 0;
    int at = 0;
    while (System.nanoTime() < end) {
      for (int i = 0; i < REPLACED; i++) {
        // A prime step, so that what is replaced lies all over the heap.
        at = (at + 7919) % live.length;
        live[at] = new long[8];
      }
      operations++;
    }
    return operations;
  }
}
