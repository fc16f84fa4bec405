package assay.chat.room;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * What goes to a client, encoded once and shared by all queues it stands in. The bytes hold both
 * forms: the header of a WebSocket frame, the text, a line feed. The plain form is what follows the
 * header; the WebSocket's is all but the line feed.
 */
public final class Message {
  /** A payload up to this length has a header of two bytes, a longer one of four. */
  private static final int SHORT_PAYLOAD_MAX = 125;

  private static final byte[] NO_PREFIX = {};

  private static final byte TEXT_FRAME = (byte) 0x81;

  private final byte[] bytes;
  private final byte header;
  private final boolean raw;
  private final boolean delivery;

  private Message(byte[] bytes, int header, boolean raw, boolean delivery) {
    this.bytes = bytes;
    this.header = (byte) header;
    this.raw = raw;
    this.delivery = delivery;
  }

  /** A delivery: the prefix {@code from ROOM SENDER } and part of an input. */
  static Message delivery(byte[] prefix, byte[] input, int from, int to) {
    return framed(prefix, input, from, to, true);
  }

  /** An answer or an error. */
  public static Message text(String text) {
    byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
    return framed(NO_PREFIX, encoded, 0, encoded.length, false);
  }

  /** Bytes that are the same in every form, such as a WebSocket's control frame. */
  public static Message raw(byte[] bytes) {
    return new Message(bytes, 0, true, false);
  }

  private static Message framed(byte[] prefix, byte[] rest, int from, int to, boolean delivery) {
    int payload = prefix.length + to - from;
    int header = payload <= SHORT_PAYLOAD_MAX ? 2 : 4;
    byte[] bytes = new byte[header + payload + 1];
    bytes[0] = TEXT_FRAME;
    if (header == 2) {
      bytes[1] = (byte) payload;
    } else {
      bytes[1] = SHORT_PAYLOAD_MAX + 1;
      bytes[2] = (byte) (payload >> 8);
      bytes[3] = (byte) payload;
    }
    System.arraycopy(prefix, 0, bytes, header, prefix.length);
    System.arraycopy(rest, from, bytes, header + prefix.length, to - from);
    bytes[bytes.length - 1] = '\n';
    return new Message(bytes, header, false, delivery);
  }

  boolean isDelivery() {
    return delivery;
  }

  /** Bytes that it takes on a plain connection, or on a WebSocket. */
  int length(boolean webSocket) {
    if (raw) {
      return bytes.length;
    }
    return webSocket ? bytes.length - 1 : bytes.length - header;
  }

  /** Puts its bytes from an offset on into the buffer, as many as fit. */
  void copy(boolean webSocket, int offset, ByteBuffer buffer) {
    int start = webSocket ? 0 : header;
    int length = Math.min(length(webSocket) - offset, buffer.remaining());
    buffer.put(bytes, start + offset, length);
  }
}
