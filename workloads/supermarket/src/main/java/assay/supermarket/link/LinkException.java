package assay.supermarket.link;

/** A message without the answer that was expected; its text names both ends and the cause. */
public final class LinkException extends Exception {
  private static final long serialVersionUID = 1;

  public LinkException(String what) {
    super(what);
  }

  public LinkException(String what, Throwable cause) {
    super(what + ": " + cause.getMessage(), cause);
  }
}
