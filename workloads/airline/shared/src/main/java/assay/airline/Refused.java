package assay.airline;

/** A request that a service understood and will not do: the asker's fault, not the service's. */
public final class Refused extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Why; the web tier gives each its status. */
  public enum Reason {
    INVALID,
    NOT_ALLOWED,
    NOT_FOUND,
    CONFLICT,
    /** Not now; asking again is right. */
    BUSY
  }

  private final Reason reason;

  public Refused(Reason reason, String message) {
    // A refusal is an answer, not a defect: its stack says nothing and costs much under load.
    super(message, null, false, false);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
