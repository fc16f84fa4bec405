package assay.probes;

/** Waiting that ends early only with the probe. */
public final class Pause {
  private Pause() {}

  /** Waits so long. */
  public static void ofMillis(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
