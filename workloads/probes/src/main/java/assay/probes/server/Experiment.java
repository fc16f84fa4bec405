package assay.probes.server;

import assay.probes.Kind;
import java.util.List;

/**
 * What a server is to hold: a kind with its amounts, or one of the experiments of "A Study of
 * Java's Non-Java Memory" with the amounts of the paper.
 */
record Experiment(Kind kind, List<String> amounts) {
  private static final String ACCESSORS = "6000";
  private static final List<String> BUFFERS = List.of("10000", "32k");

  /**
   * {@code KIND AMOUNT...}, or {@code study KIND CALLS FORM THREADS} with the options of a study.
   */
  static Experiment of(List<String> words) {
    if (words.size() != 5 || !words.get(0).equals("study")) {
      return new Experiment(Kind.named(words.get(0)), words.subList(1, words.size()));
    }
    Kind kind = Kind.named(words.get(1));
    return switch (kind) {
      case REFLECTION -> new Experiment(kind, List.of(ACCESSORS, words.get(2), words.get(3)));
      case DIRECT, FREED -> new Experiment(kind, BUFFERS);
      case WAITING -> new Experiment(kind, List.of(words.get(4)));
      default -> throw new IllegalArgumentException("no experiment with " + kind.word());
    };
  }

  Experiment {
    amounts = List.copyOf(amounts);
  }
}
