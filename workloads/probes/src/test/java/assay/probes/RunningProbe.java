package assay.probes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A probe in a JVM of its own whose other memory stays as it is: a heap of one size, all of it
 * resident from the start, and no compiler.
 */
final class RunningProbe implements AutoCloseable {
  private static final List<String> STILL =
      List.of("-Xint", "-XX:+UseSerialGC", "-Xms96m", "-Xmx96m", "-XX:+AlwaysPreTouch");

  private final Process process;
  private final Writer commands;
  private final BufferedReader answers;

  RunningProbe(Path library, String amounts, String... options) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(STILL);
    Collections.addAll(command, options);
    command.add("-Dprobe.native=" + library);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), "assay.probes.Probe"));
    Collections.addAll(command, amounts.split(" ", -1));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    commands = process.outputWriter(UTF_8);
    answers = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  String answer() throws IOException {
    String line = answers.readLine();
    if (line == null) {
      throw new IOException("the probe ended");
    }
    return line;
  }

  String follow(String command) throws IOException {
    commands.write(command + "\n");
    commands.flush();
    return answer();
  }

  /** The kernel's resident set of the probe. */
  long residentBytes() throws IOException {
    return Files.readAllLines(Path.of("/proc/" + process.pid() + "/smaps_rollup")).stream()
        .filter(line -> line.startsWith("Rss:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
        .sum();
  }

  /** What native memory tracking has of malloc under a tag, as {@code jcmd} tells it. */
  long trackedBytes(String tag) throws IOException {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    Process asked =
        new ProcessBuilder(jcmd, "" + process.pid(), "VM.native_memory", "summary", "scale=b")
            .start();
    String answer = new String(asked.getInputStream().readAllBytes(), UTF_8);
    Matcher matcher =
        Pattern.compile("-\\s+" + tag + " \\(.*?malloc=(\\d+)", Pattern.DOTALL).matcher(answer);
    if (!matcher.find()) {
      throw new IOException(tag + " is not in " + answer);
    }
    return Long.parseLong(matcher.group(1));
  }

  static long figure(String answer, String name) {
    Matcher matcher = Pattern.compile("\"" + name + "\":(-?\\d+)").matcher(answer);
    if (!matcher.find()) {
      throw new IllegalArgumentException(name + " is not in " + answer);
    }
    return Long.parseLong(matcher.group(1));
  }

  /** Closes its input, which ends it; true when it has ended in good order. */
  boolean end() throws IOException, InterruptedException {
    commands.close();
    return process.waitFor(5, TimeUnit.MINUTES) && process.exitValue() == 0;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
