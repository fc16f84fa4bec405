package assay.probes.jmh;

/**
 * A benchmark did not do what it measures. JMH is run with {@code -foe true}, so this ends the run.
 */
final class WrongAnswer extends IllegalStateException {
  private static final long serialVersionUID = 1;

  WrongAnswer(String what) {
    super(what);
  }

  static void unless(boolean holds, String what) {
    if (!holds) {
      throw new WrongAnswer(what);
    }
  }
}
