package assay.chat.room;

/** A message that is not done, while the connection goes on. */
public final class Refused extends Exception {
  private static final long serialVersionUID = 1;

  private final String reason;

  Refused(String reason, String explanation) {
    super(explanation, null, false, false);
    this.reason = reason;
  }

  /** The word of the protocol. */
  public String reason() {
    return reason;
  }
}
