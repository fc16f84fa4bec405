package assay.chat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/**
 * Frames of WebSocket that the JDK's client does not send, byte by byte; the handshake of RFC 6455,
 * 1.3.
 */
class FramesTest {
  private static final String HANDSHAKE =
      head(
          "GET /chat HTTP/1.1",
          "Host: server.example.com",
          "Upgrade: websocket",
          "Connection: Upgrade",
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
          "Sec-WebSocket-Version: 13");
  private static final String SWITCHED =
      head(
          "HTTP/1.1 101 Switching Protocols",
          "Upgrade: websocket",
          "Connection: Upgrade",
          "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  private static final String WELCOME =
      frameOfServer(0x81, "welcome 1 room=20 line=1024 queue=262144");

  private static String head(String... lines) {
    return String.join("\r\n", lines) + "\r\n\r\n";
  }

  private static String frameOfServer(int first, String payload) {
    return (char) first + "" + (char) payload.length() + payload;
  }

  /** A masked frame. */
  private static String frame(int first, String payload) {
    byte[] mask = {1, 2, 3, (byte) 0x84};
    StringBuilder frame = new StringBuilder();
    frame.append((char) first);
    if (payload.length() < 126) {
      frame.append((char) (0x80 | payload.length()));
    } else {
      frame.append((char) 0xFE);
      frame.append((char) (payload.length() >> 8)).append((char) (payload.length() & 0xFF));
    }
    for (byte b : mask) {
      frame.append((char) (b & 0xFF));
    }
    for (int i = 0; i < payload.length(); i++) {
      frame.append((char) ((payload.charAt(i) ^ mask[i % 4]) & 0xFF));
    }
    return frame.toString();
  }

  private static String closed(int status) {
    return frameOfServer(0x88, "" + (char) (status >> 8) + (char) (status & 0xFF));
  }

  /** What comes after the handshake. */
  private static String exchange(String frames) throws IOException {
    try (TestServer server = new TestServer("selector");
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout(TestClient.PATIENCE_MS);
      socket.setTcpNoDelay(true);
      for (byte b : (HANDSHAKE + frames).getBytes(StandardCharsets.ISO_8859_1)) {
        socket.getOutputStream().write(b);
      }
      ByteArrayOutputStream got = new ByteArrayOutputStream();
      socket.getInputStream().transferTo(got);
      String all = got.toString(StandardCharsets.ISO_8859_1);
      assertThat(all).startsWith(SWITCHED);
      return all.substring(SWITCHED.length());
    }
  }

  @Test
  void aMessageMayComeInFragmentsWithAPingBetween() throws IOException {
    assertThat(
            exchange(
                frame(0x01, "hello")
                    + frame(0x89, "are you there")
                    + frame(0x00, " 1 ")
                    + frame(0x80, "ada")
                    + frame(0x8A, "not asked for")
                    + frame(0x88, "")))
        .isEqualTo(frameOfServer(0x8A, "are you there") + WELCOME + frameOfServer(0x88, ""));
  }

  @Test
  void aLongMessageHasAWiderLength() throws IOException {
    String said = "say 1 " + "x".repeat(500);
    assertThat(exchange(frame(0x81, "hello 1 ada") + frame(0x81, said) + frame(0x81, "bye")))
        .isEqualTo(
            WELCOME
                + frameOfServer(0x81, "refused no-room join a room first")
                + frameOfServer(0x81, "bye")
                + closed(1000));
  }

  @Test
  void whatTheProtocolForbidsEndsTheConnectionWithItsStatus() throws IOException {
    String hello = frame(0x81, "hello 1 ada");
    String[][] broken = {
      {"\u0081\u0003bye", "syntax a frame of a client is masked, and uses no extension", "1002"},
      {frame(0xC1, "bye"), "syntax a frame of a client is masked, and uses no extension", "1002"},
      {frame(0x82, "bye"), "syntax messages are text, not binary", "1002"},
      {frame(0x83, "bye"), "syntax a frame of an unknown kind", "1002"},
      {
        frame(0x80, "bye"),
        "syntax a message began within another, or a fragment outside one",
        "1002"
      },
      {frame(0x09, "x"), "syntax a control frame is whole and has at most 125 bytes", "1002"},
      {frame(0x81, "x".repeat(1024)), "too-long a message has at most 1023 bytes", "1009"},
      {
        frame(0x01, "x".repeat(1023)) + frame(0x80, "x"),
        "too-long a message has at most 1023 bytes",
        "1009"
      },
      {"\u0081\u00ff", "too-long a message has at most 1023 bytes", "1009"},
      {frame(0x81, "say 2 x"), "sequence the next sequence number is 1", "1008"},
    };
    for (String[] each : broken) {
      assertThat(exchange(hello + each[0]))
          .isEqualTo(
              WELCOME
                  + frameOfServer(0x81, "error " + each[1])
                  + closed(Integer.parseInt(each[2])));
    }
  }
}
