package assay.chat.wire;

import assay.chat.room.Message;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;

/** The server's side of RFC 6455: text messages, as far as the chat needs it. */
final class WebSocket implements Decoder {
  static final int NORMAL = 1000;
  static final int GOING_AWAY = 1001;

  private static final String VERSION = "13";
  private static final String KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

  private static final int FIN = 0x80;
  private static final int RESERVED = 0x70;
  private static final int MASKED = 0x80;
  private static final int CONTINUATION = 0;
  private static final int TEXT = 1;
  private static final int BINARY = 2;
  private static final int CLOSE = 8;
  private static final int PING = 9;
  private static final int PONG = 10;

  private static final int LENGTH_16 = 126;
  private static final int LENGTH_64 = 127;
  private static final int CONTROL_PAYLOAD_MAX = 125;
  private static final int MESSAGE_BYTES_MAX = LINE_BYTES_MAX - 1;
  private static final int MASK_BYTES = 4;

  /** What came of a fragmented message; null outside one. */
  private byte[] fragments;

  /** The answer to a handshake; null when the request is none, or one that cannot be met. */
  static Message handshake(Map<String, String> fields) {
    String key = fields.get("sec-websocket-key");
    if (key == null
        || !"websocket".equalsIgnoreCase(fields.get("upgrade"))
        || !VERSION.equals(fields.get("sec-websocket-version"))) {
      return null;
    }
    return Message.raw(
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: "
                + accept(key)
                + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII));
  }

  private static String accept(String key) {
    try {
      // The handshake's hash is SHA-1, which proves nothing but that the server knows WebSocket.
      MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
      return Base64.getEncoder()
          .encodeToString(sha1.digest((key + KEY_SUFFIX).getBytes(StandardCharsets.ISO_8859_1)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }

  static Message close(int status) {
    return control(CLOSE, new byte[] {(byte) (status >> 8), (byte) status}, 0, 2);
  }

  private static Message control(int opcode, byte[] payload, int from, int to) {
    byte[] frame = new byte[2 + to - from];
    frame[0] = (byte) (FIN | opcode);
    frame[1] = (byte) (to - from);
    System.arraycopy(payload, from, frame, 2, to - from);
    return Message.raw(frame);
  }

  @Override
  public int decode(Session session, byte[] input, int from, int to) throws Broken {
    if (to - from < 2) {
      return from;
    }
    int opcode = input[from] & 0x0F;
    boolean whole = (input[from] & FIN) != 0;
    int length = input[from + 1] & 0x7F;
    checkHeader(input[from] & RESERVED, input[from + 1] & MASKED, opcode, whole, length);
    int mask = from + 2;
    if (length == LENGTH_16) {
      if (to - from < 4) {
        return from;
      }
      length = ((input[from + 2] & 0xFF) << 8) | (input[from + 3] & 0xFF);
      mask += 2;
      if (length > MESSAGE_BYTES_MAX) {
        throw tooLong();
      }
    }
    int payload = mask + MASK_BYTES;
    int end = payload + length;
    if (end > to) {
      return from;
    }
    for (int i = payload; i < end; i++) {
      input[i] ^= input[mask + ((i - payload) & 3)];
    }
    frame(session, opcode, whole, input, payload, end);
    return end;
  }

  private void checkHeader(int reserved, int masked, int opcode, boolean whole, int length)
      throws Broken {
    if (masked == 0 || reserved != 0) {
      throw Broken.syntax("a frame of a client is masked, and uses no extension");
    }
    if (opcode >= CLOSE && (!whole || length > CONTROL_PAYLOAD_MAX)) {
      throw Broken.syntax("a control frame is whole and has at most 125 bytes");
    }
    if (length == LENGTH_64) {
      throw tooLong();
    }
    if (opcode == BINARY) {
      throw Broken.syntax("messages are text, not binary");
    }
    if ((opcode == TEXT && fragments != null) || (opcode == CONTINUATION && fragments == null)) {
      throw Broken.syntax("a message began within another, or a fragment outside one");
    }
  }

  private void frame(Session session, int opcode, boolean whole, byte[] input, int from, int to)
      throws Broken {
    switch (opcode) {
      case TEXT -> {
        if (whole) {
          session.message(input, from, to);
        } else {
          fragments = Arrays.copyOfRange(input, from, to);
        }
      }
      case CONTINUATION -> {
        int before = fragments.length;
        if (before + to - from > MESSAGE_BYTES_MAX) {
          throw tooLong();
        }
        byte[] longer = Arrays.copyOf(fragments, before + to - from);
        System.arraycopy(input, from, longer, before, to - from);
        fragments = whole ? null : longer;
        if (whole) {
          session.message(longer, 0, longer.length);
        }
      }
      case PING -> session.answer(control(PONG, input, from, to));
      case PONG -> {}
      case CLOSE -> session.closedByClient(control(CLOSE, input, from, to));
      default -> throw Broken.syntax("a frame of an unknown kind");
    }
  }

  private static Broken tooLong() {
    return Broken.tooLong("a message has at most " + MESSAGE_BYTES_MAX + " bytes");
  }
}
