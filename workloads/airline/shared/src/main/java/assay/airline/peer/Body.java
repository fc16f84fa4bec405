package assay.airline.peer;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** The body of a request. */
public final class Body {
  /** No body. */
  public static final Body NONE = new Body("", new byte[0]);

  private final String contentType;
  private final byte[] bytes;

  /** The bytes are not copied: whoever makes a body gives them away. */
  public Body(String contentType, byte[] bytes) {
    this.contentType = contentType;
    this.bytes = bytes;
  }

  public String contentType() {
    return contentType;
  }

  public byte[] bytes() {
    return bytes;
  }

  /** Fields of a form: names and values in turn. */
  public static Body form(String... fields) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i + 1 < fields.length; i += 2) {
      text.append(i == 0 ? "" : "&")
          .append(encoded(fields[i]))
          .append('=')
          .append(encoded(fields[i + 1]));
    }
    return new Body(
        "application/x-www-form-urlencoded", text.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
