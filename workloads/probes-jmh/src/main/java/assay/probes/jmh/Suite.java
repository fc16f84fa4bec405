package assay.probes.jmh;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Runs JMH with the options in a file, then those of the command line: {@code FILE [OPTION...]}.
 * The java launcher itself reads options from a file since JDK 9 only.
 */
public final class Suite {
  private Suite() {}

  public static void main(String[] arguments) throws IOException {
    if (arguments.length == 0) {
      System.err.println("usage: FILE [OPTION...]");
      System.exit(2);
    }
    List<String> words = words(Files.readAllLines(Paths.get(arguments[0]), UTF_8));
    words.addAll(Arrays.asList(arguments).subList(1, arguments.length));
    org.openjdk.jmh.Main.main(words.toArray(new String[0]));
  }

  /** The words of lines that are no comments. */
  static List<String> words(List<String> lines) {
    List<String> words = new ArrayList<>();
    for (String line : lines) {
      String text = line.trim();
      if (!text.isEmpty() && !text.startsWith("#")) {
        words.addAll(Arrays.asList(text.split("\\s+", -1)));
      }
    }
    return words;
  }
}
