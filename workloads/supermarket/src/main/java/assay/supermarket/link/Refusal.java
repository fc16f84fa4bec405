package assay.supermarket.link;

import assay.supermarket.message.Message;
import assay.supermarket.message.Wire;

/** The answer to a message that had no effect: there is no such agent, or it did not want it. */
@Wire(format = Wire.Format.BINARY, secure = true, compressed = false)
public record Refusal(String reason) implements Message {
  private static final int CHARS_MAX = 500;

  public Refusal {
    reason = reason.length() > CHARS_MAX ? reason.substring(0, CHARS_MAX) : reason;
  }
}
