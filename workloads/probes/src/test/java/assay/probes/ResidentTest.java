package assay.probes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a probe says it holds, against the kernel's account of the process. */
class ResidentTest {
  @TempDir static Path folder;

  private static Path library() {
    return folder.resolve("libprobe.so");
  }

  @BeforeAll
  static void compileTheLibrary() throws IOException, InterruptedException {
    Path headers = Path.of(System.getProperty("java.home"), "include");
    ProcessBuilder compiler =
        new ProcessBuilder(
            "cc",
            "-O1",
            "-fPIC",
            "-shared",
            "-pthread",
            "-I" + headers,
            "-I" + headers.resolve("linux"),
            "-o",
            library().toString(),
            "native/probe.c",
            "-ldl");
    boolean compiled;
    try {
      compiled = compiler.inheritIO().start().waitFor() == 0;
    } catch (IOException e) {
      compiled = false;
      assumeTrue(false, "skipped: there is no C compiler: " + e.getMessage());
    }
    assertThat(compiled).isTrue();
  }

  /**
   * 40 to 70 MB each; the rest of the process must not grow by more than the tolerance: headers,
   * rounding, tables.
   */
  @ParameterizedTest
  @CsvSource({
    "direct, 0 32k, 1500, bytes, 1",
    "mapped, 0 1m, 50, bytes, 1",
    "threads, 0 500k, 100, bytes, 4",
    "malloc, 0 10000, 5000, bytes, 1",
    "malloc, 0 300k, 200, bytes, 2",
    "statics, 0 10000, 5000, bytes, 1",
    "peers, 0 10000, 5000, bytes, 1",
    "unsafe, 0 10000, 5000, bytes, 1",
    "arenas, 0 400 64k, 4, bytes, 1",
    "huge, 0 4m, 12, bytes, 1",
    "deflaters, 0, 200, malloc_bytes, 2",
  })
  void allOfItIsResident(String kind, String amounts, int count, String figure, int percent)
      throws Exception {
    try (RunningProbe probe = new RunningProbe(library(), kind + " " + amounts)) {
      // Growth by malloc's own account includes what the JVM's other threads did meanwhile.
      assertThat(RunningProbe.figure(probe.answer(), figure)).isLessThan(4096);
      long before = probe.residentBytes();
      long told = RunningProbe.figure(probe.follow("grow " + count), figure);
      long grown = probe.residentBytes() - before;
      assertThat(told).isGreaterThan(40 << 20);
      assertThat(grown).isCloseTo(told, Percentage.withPercentage(percent));
      assertThat(RunningProbe.figure(probe.follow("release"), "bytes")).isZero();
      assertThat(RunningProbe.figure(probe.follow("gc"), "bytes")).isZero();
      assertThat(probe.end()).isTrue();
    }
  }

  @Test
  void symbolsAreWhatTheJvmsOwnTrackingFinds() throws Exception {
    try (RunningProbe probe =
        new RunningProbe(library(), "symbols 0 1000", "-XX:NativeMemoryTracking=summary")) {
      probe.answer();
      long before = probe.trackedBytes("Symbol");
      long told = RunningProbe.figure(probe.follow("grow 5000"), "bytes");
      assertThat(told).isEqualTo(5000 * 1008);
      // Beside each symbol stands a node of the table, of some 24 bytes.
      assertThat(probe.trackedBytes("Symbol") - before).isBetween(told, told + told / 20);
    }
  }

  @Test
  void freedArenasAreNotInUseAndStay() throws Exception {
    try (RunningProbe probe = new RunningProbe(library(), "arenas 4 100 64k")) {
      String ready = probe.answer();
      assertThat(RunningProbe.figure(ready, "asked_bytes")).isEqualTo(4 * 100 * (64 << 10));
      assertThat(RunningProbe.figure(ready, "bytes")).isBetween(26_214_400L, 26_300_000L);
      long before = probe.residentBytes();
      probe.follow("release");
      // The blocks that held the arenas' tops back are gone, but nothing frees the threads' memory
      // at once: it may
      // shrink, it must not grow.
      assertThat(probe.residentBytes()).isLessThanOrEqualTo(before + (1 << 20));
    }
  }

  @Test
  void anUnknownCommandIsRefusedAndTheProbeLives() throws Exception {
    try (RunningProbe probe = new RunningProbe(library(), "heap 10 1k")) {
      assertThat(probe.answer()).contains("\"ready\":true", "\"count\":10", "\"bytes\":10240");
      assertThat(probe.follow("shrink")).startsWith("{\"error\":");
      assertThat(probe.follow("grow none")).startsWith("{\"error\":");
      assertThat(probe.follow("grow")).contains("\"grow\":true", "\"count\":20");
    }
  }
}
