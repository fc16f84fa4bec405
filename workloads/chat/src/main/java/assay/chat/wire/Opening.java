package assay.chat.wire;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The first bytes of a connection, which say what it speaks. */
final class Opening implements Decoder {
  static final Opening DECODER = new Opening();

  private static final byte[] HELLO = "hello ".getBytes(StandardCharsets.US_ASCII);
  private static final int HEAD_BYTES_MAX = 8_192;

  private Opening() {}

  @Override
  public int decode(Session session, byte[] input, int from, int to) throws Broken {
    for (int i = 0; i < Math.min(HELLO.length, to - from); i++) {
      if (input[from + i] != HELLO[i]) {
        return request(session, input, from, to);
      }
    }
    if (to - from >= HELLO.length) {
      session.speak(Lines.DECODER);
    }
    return from;
  }

  /** A request of HTTP, or its first bytes. */
  private static int request(Session session, byte[] input, int from, int to) throws Broken {
    if (input[from] < 'A' || input[from] > 'Z') {
      throw Broken.syntax("the first message is hello 1 NAME");
    }
    String head =
        new String(input, from, Math.min(to - from, HEAD_BYTES_MAX), StandardCharsets.ISO_8859_1);
    int end = head.indexOf("\r\n\r\n");
    if (end < 0) {
      if (to - from >= HEAD_BYTES_MAX) {
        throw Broken.tooLong("the head of a request has at most " + HEAD_BYTES_MAX + " bytes");
      }
      return from;
    }
    String[] lines = head.substring(0, end).split("\r\n", -1);
    String[] request = lines[0].split(" ", -1);
    if (request.length != 3 || !request[2].startsWith("HTTP/1.")) {
      throw Broken.syntax("neither hello nor a request of HTTP/1.1");
    }
    Map<String, String> fields = new HashMap<>();
    for (int i = 1; i < lines.length; i++) {
      int colon = lines[i].indexOf(':');
      if (colon > 0) {
        fields.put(
            lines[i].substring(0, colon).toLowerCase(Locale.ROOT),
            lines[i].substring(colon + 1).strip());
      }
    }
    session.request(request[0], request[1], fields);
    return from + end + "\r\n\r\n".length();
  }
}
