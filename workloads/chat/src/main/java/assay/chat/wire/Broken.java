package assay.chat.wire;

/** A rule of the protocol that a client broke: the connection ends. */
final class Broken extends Exception {
  private static final long serialVersionUID = 1;

  private final String reason;

  Broken(String reason, String explanation) {
    super(explanation, null, false, false);
    this.reason = reason;
  }

  static Broken syntax(String explanation) {
    return new Broken("syntax", explanation);
  }

  static Broken tooLong(String explanation) {
    return new Broken("too-long", explanation);
  }

  /** The word of the protocol. */
  String reason() {
    return reason;
  }

  /** The status of a WebSocket's close frame. */
  int closeStatus() {
    return switch (reason) {
      case "syntax" -> 1002;
      case "too-long" -> 1009;
      default -> 1008;
    };
  }
}
