package assay.chat.room;

import java.util.Locale;

/** How a connection ended, which is also why its undelivered messages were dropped. */
public enum End {
  /** The client said {@code bye}. */
  BYE,
  /** The client closed the connection without {@code bye}, or died. */
  CLOSED,
  /** The client did not read what was sent to it. */
  SLOW_READER,
  /** The client broke a rule of the protocol. */
  ERROR,
  /** The server ended. */
  SHUTDOWN,
  /** An answer over HTTP was complete. */
  ANSWERED;

  /** As it is spelled in messages and statistics. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
