package assay.airline.peer;

import java.io.IOException;

/** Another service gave no answer that can be used; whether it did what was asked is not known. */
public final class PeerFailed extends IOException {
  private static final long serialVersionUID = 1;

  public PeerFailed(String message) {
    super(message);
  }

  public PeerFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
