package assay.probes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;

/**
 * Holds known memory of one kind: {@code probe KIND AMOUNT...}. Prints what it holds as one line of
 * JSON, then follows a command a line until {@code quit} or the end of its input.
 */
public final class Probe {
  private final Phases phases;

  Probe(Phases phases) {
    this.phases = phases;
  }

  public static void main(String[] arguments) throws IOException {
    Phases phases;
    try {
      List<String> words = List.of(arguments);
      if (words.isEmpty()) {
        throw new IllegalArgumentException("no kind given");
      }
      phases = new Phases(Kind.named(words.get(0)), words.subList(1, words.size()));
    } catch (IllegalArgumentException e) {
      System.err.println("probe: " + e.getMessage());
      System.err.println("usage: probe KIND AMOUNT..., one of:");
      Arrays.stream(Kind.values()).forEach(kind -> System.err.println("  " + kind.usage()));
      System.exit(2);
      return;
    }
    new Probe(phases)
        .serve(new BufferedReader(new InputStreamReader(System.in, UTF_8)), System.out);
    // Threads that are held would keep the process alive.
    System.exit(0);
  }

  void serve(BufferedReader commands, PrintStream answers) throws IOException {
    say(answers, phases.ready());
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      if (line.strip().equals("quit")) {
        return;
      }
      say(answers, phases.follow(line));
    }
  }

  private static void say(PrintStream answers, String line) {
    answers.println(line);
    answers.flush();
  }
}
