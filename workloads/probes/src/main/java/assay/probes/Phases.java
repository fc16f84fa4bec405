package assay.probes;

import java.util.List;

/**
 * Follows commands: {@code grow [COUNT]}, {@code release}, {@code gc}, {@code touch}, {@code hold}.
 */
public final class Phases {
  /** A collector needs one round, cleaners a moment after it; more rounds only wait for them. */
  private static final int GC_ROUNDS_MAX = 100;

  private static final long CLEANERS_MS = 50;

  private final Kind kind;
  private final Holding holding;
  private final int firstCount;

  public Phases(Kind kind, List<String> amounts) {
    this.kind = kind;
    this.holding = kind.start(amounts);
    this.firstCount = new Amounts(amounts).number(0);
  }

  /** The answer once the first amount is held. */
  public synchronized String ready() {
    return Answer.of("ready", kind, holding.held());
  }

  /** Follows one command; the answer says what is held then, or why the command was refused. */
  public synchronized String follow(String line) {
    String[] words = line.strip().split("\\s+", -1);
    try {
      switch (words[0]) {
        case "grow" ->
            holding.grow(words.length > 1 ? new Amounts(List.of(words)).number(1) : firstCount);
        case "release" -> holding.release();
        case "gc" -> collect();
        case "touch" -> holding.touch();
        case "hold" -> {}
        default -> {
          return Answer.refusal("commands are grow [COUNT], release, gc, touch, hold, quit");
        }
      }
    } catch (RuntimeException e) {
      return Answer.refusal(String.valueOf(e.getMessage()));
    }
    return Answer.of(words[0], kind, holding.held());
  }

  private void collect() {
    for (int round = 0; round < GC_ROUNDS_MAX; round++) {
      System.gc();
      if (holding.isSettled()) {
        return;
      }
      Pause.ofMillis(CLEANERS_MS);
    }
    throw new IllegalStateException(
        "after " + GC_ROUNDS_MAX + " collections more is held than told");
  }
}
