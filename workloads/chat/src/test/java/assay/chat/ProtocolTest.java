package assay.chat;

import static org.assertj.core.api.Assertions.assertThat;

import assay.chat.room.Limits;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each sentence of PROTOCOL.md about messages, as bytes. */
class ProtocolTest {
  private static final String HELLO = "hello 1 ada\n";
  private static final String WELCOME = "welcome 1 room=20 line=1024 queue=262144\n";
  private static final String MESSAGES =
      "error syntax join ROOM, say SEQ TEXT, leave, count or bye\n";
  private static final String NAME =
      "error syntax a name is 1 to 32 characters of A-Z a-z 0-9 . _ -\n";
  private static final String FIRST = "error syntax the first message is hello 1 NAME\n";
  private static final String NUMBER =
      "error syntax the sequence number is decimal, without leading zeros\n";

  /** What one client sends, and all it gets until the server ends the connection. */
  static Stream<Arguments> exchanges() {
    return Stream.of(
        Arguments.of(HELLO + "bye\n", WELCOME + "bye\n"),
        Arguments.of(
            HELLO + "join lobby\nsay 1 a\nsay 2 b c\ncount\nleave\ncount\nbye\n",
            WELCOME + "joined lobby 1\ncounts 2 0\nleft lobby\ncounts 2 0\nbye\n"),
        Arguments.of(
            HELLO + "say 1 a\njoin lobby\nsay 2 b\ncount\nbye\n",
            WELCOME + "refused no-room join a room first\njoined lobby 1\ncounts 1 0\nbye\n"),
        Arguments.of(
            HELLO + "join a\njoin b\nbye\n",
            WELCOME + "joined a 1\nrefused in-room leave room a first\nbye\n"),
        Arguments.of(HELLO + "leave\nbye\n", WELCOME + "refused no-room join a room first\nbye\n"),
        Arguments.of("hello 2 ada\n", "error version this server speaks version 1\n"),
        Arguments.of("hello 1 \n", NAME),
        Arguments.of("hello 1 " + "a".repeat(33) + "\n", NAME),
        Arguments.of("hello 1 \u00e4\n", NAME),
        Arguments.of("hello 1\r\n", "error version this server speaks version 1\n"),
        Arguments.of("hello 1 ada\r\n", NAME),
        Arguments.of("hello 1 a b\n", "error syntax hello 1 NAME\n"),
        Arguments.of("hallo\n", FIRST),
        Arguments.of("\n", FIRST),
        Arguments.of(HELLO + "\n", WELCOME + MESSAGES),
        Arguments.of(HELLO + HELLO, WELCOME + MESSAGES),
        Arguments.of(HELLO + "join  a\n", WELCOME + MESSAGES),
        Arguments.of(
            HELLO + "join a\nsay 2 a\n",
            WELCOME + "joined a 1\nerror sequence the next sequence number is 1\n"),
        Arguments.of(HELLO + "say 01 a\n", WELCOME + NUMBER),
        Arguments.of(HELLO + "say +1 a\n", WELCOME + NUMBER),
        Arguments.of(HELLO + "say 9223372036854775808 a\n", WELCOME + NUMBER),
        Arguments.of(HELLO + "say 1\n", WELCOME + "error syntax say SEQ TEXT\n"),
        Arguments.of(HELLO + "say 1 \n", WELCOME + "error syntax a text is not empty\n"),
        Arguments.of(
            HELLO + "say 1 a\tb\n", WELCOME + "error syntax a text holds no control characters\n"),
        Arguments.of(
            HELLO + "say 1 " + "a".repeat(897) + "\n",
            WELCOME + "error too-long a text has at most 896 bytes\n"),
        Arguments.of(
            HELLO + "a".repeat(1024), WELCOME + "error too-long a line has at most 1024 bytes\n"),
        // What comes after the end is not done.
        Arguments.of(HELLO + "bye\njoin a\n", WELCOME + "bye\n"));
  }

  @ParameterizedTest
  @MethodSource("exchanges")
  void aClientGetsTheseAnswers(String sent, String got) throws Exception {
    try (TestServer server = new TestServer("selector")) {
      assertThat(exchange(server, sent.getBytes(StandardCharsets.UTF_8), false)).isEqualTo(got);
      server.audited();
    }
  }

  @ParameterizedTest
  @MethodSource("exchanges")
  void theAnswersAreTheSameWhenTheBytesComeOneByOne(String sent, String got) throws Exception {
    try (TestServer server = new TestServer("selector")) {
      assertThat(exchange(server, sent.getBytes(StandardCharsets.UTF_8), true)).isEqualTo(got);
    }
  }

  @Test
  void badUtf8IsAnError() throws Exception {
    try (TestServer server = new TestServer("selector")) {
      byte[] sent = (HELLO + "say 1 x\u00ff\n").getBytes(StandardCharsets.ISO_8859_1);
      assertThat(exchange(server, sent, false))
          .isEqualTo(WELCOME + "error syntax a text is UTF-8\n");
    }
  }

  @ParameterizedTest
  @MethodSource("assay.chat.TestServer#engines")
  void othersGetTheTextAsItWasSaid(String engine) throws Exception {
    String longest = "\u00e4".repeat(448);
    try (TestServer server = new TestServer(engine);
        TestClient ada = TestClient.plain(server.port());
        TestClient ben = TestClient.webSocket(server.port())) {
      assertThat(ada.enter("ada", "lobby")).isEqualTo(1);
      assertThat(ben.enter("ben", "lobby")).isEqualTo(2);
      ada.send("say 1  two  spaces \nsay 2 " + longest);
      assertThat(ben.next()).isEqualTo("from lobby ada 1  two  spaces ");
      assertThat(ben.next()).isEqualTo("from lobby ada 2 " + longest);
      ben.send("say 1 x");
      assertThat(ada.next()).isEqualTo("from lobby ben 1 x");
      ben.send("bye");
      assertThat(ben.next()).isEqualTo("bye");
      assertThat(ben.next()).isEqualTo("close 1000");
      // Who has left is not spoken to, and its name is free again.
      ada.send("say 3 y\ncount");
      assertThat(ada.next()).isEqualTo("counts 3 1");
      try (TestClient again = TestClient.plain(server.port())) {
        assertThat(again.enter("ben", "lobby")).isEqualTo(2);
      }
    }
  }

  @Test
  void aNameIsOneUsersAndARoomHasALimit() throws Exception {
    try (TestServer server = new TestServer("selector", new Limits(2, 4_096, 10));
        Party party = new Party(1, 2, user -> TestClient.plain(server.port()));
        TestClient third = TestClient.plain(server.port());
        TestClient twin = TestClient.plain(server.port())) {
      assertThat(party.users()).hasSize(2);
      twin.send("hello 1 user-0-0");
      assertThat(twin.next()).isEqualTo("error name-taken a connected user has the name user-0-0");
      assertThat(twin.next()).isEqualTo(TestClient.END);
      third.send("hello 1 third");
      assertThat(third.next()).isEqualTo("welcome 1 room=2 line=1024 queue=4096");
      third.send("join room-0\njoin room-1");
      assertThat(third.next()).isEqualTo("refused room-full the room has 2 members");
      assertThat(third.next()).isEqualTo("joined room-1 1");
    }
  }

  @ParameterizedTest
  @MethodSource("assay.chat.TestServer#engines")
  void whenTheServerEndsItSaysSo(String engine) throws Exception {
    try (TestServer server = new TestServer(engine);
        TestClient ada = TestClient.plain(server.port());
        TestClient ben = TestClient.webSocket(server.port())) {
      ada.enter("ada", "lobby");
      ben.enter("ben", "lobby");
      server.end();
      for (TestClient client : List.of(ada, ben)) {
        assertThat(client.next()).isEqualTo("error shutdown the server ends");
      }
      assertThat(ben.next()).isEqualTo("close 1001");
    }
  }

  /** All that comes until the server ends its direction. */
  private static String exchange(TestServer server, byte[] sent, boolean byteByByte)
      throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout(TestClient.PATIENCE_MS);
      socket.setTcpNoDelay(true);
      OutputStream out = socket.getOutputStream();
      if (byteByByte) {
        for (byte b : sent) {
          out.write(b);
        }
      } else {
        out.write(sent);
      }
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
