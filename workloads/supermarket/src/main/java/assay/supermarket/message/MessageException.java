package assay.supermarket.message;

/**
 * A message that could not be written or read. The only exception that bytes from outside can
 * cause; its text names the type of message, as far as it is known, and the cause.
 */
public final class MessageException extends Exception {
  private static final long serialVersionUID = 1;

  public MessageException(String what) {
    super(what);
  }

  public MessageException(String what, Throwable cause) {
    super(what + ": " + reason(cause), cause);
  }

  private static String reason(Throwable cause) {
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }
}
