package assay.supermarket.model;

/** A request that is not done, and why. Nothing has changed. */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Why a request is refused. */
  public enum Reason {
    /** It names something that is not there. */
    UNKNOWN,
    /** Too much waits already. */
    OVERLOADED
  }

  private final Reason reason;

  public Refusal(Reason reason, String message) {
    // No stack trace: under overload there would be thousands.
    super(message, null, false, false);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
