package assay.chat;

import static org.assertj.core.api.Assertions.assertThat;

import assay.chat.room.Limits;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each message comes to the 19 others, once and in order, whatever happens to some of them. */
class ExactlyOnceTest {
  private static final String ENGINES = "assay.chat.TestServer#engines";
  private static final int USERS = 20;
  private static final int MESSAGES = 100;
  private static final int TEXT_BYTES = 100;
  private static final int OTHERS = USERS - 1;

  private static void sayAll(TestClient user) throws java.io.IOException {
    for (int i = 0; i < MESSAGES; i++) {
      user.say(TEXT_BYTES);
    }
  }

  @ParameterizedTest
  @MethodSource(ENGINES)
  void everyMessageComesToAllOthers(String engine) throws Exception {
    try (TestServer server = new TestServer(engine);
        // Every second one over a WebSocket.
        Party party =
            new Party(
                2,
                USERS,
                user ->
                    user % 2 == 0
                        ? TestClient.plain(server.port())
                        : TestClient.webSocket(server.port()))) {
      party.all(
          party.users(),
          user -> {
            sayAll(user);
            user.receive((long) OTHERS * MESSAGES);
            user.send("count");
            assertThat(user.answer("counts"))
                .isEqualTo("counts " + MESSAGES + " " + OTHERS * MESSAGES);
          });
      assertThat(party.users())
          .allSatisfy(user -> assertThat(user.ledger.wrong(OTHERS, MESSAGES)).isEmpty());
      int said = 2 * USERS * MESSAGES;
      assertThat(server.audited())
          .contains(
              "\"said\":"
                  + said
                  + ",\"due\":"
                  + said * OTHERS
                  + ",\"delivered\":"
                  + said * OTHERS
                  + ",\"queued\":0")
          .contains("\"users\":40,\"rooms\":2");
      party.all(
          party.users(),
          user -> {
            user.send("bye");
            assertThat(user.answer("bye")).isEqualTo("bye");
          });
    }
  }

  @ParameterizedTest
  @MethodSource(ENGINES)
  void killedClientsAreAccountedFor(String engine) throws Exception {
    int killed = 5;
    try (TestServer server = new TestServer(engine);
        Party party = new Party(1, USERS, user -> TestClient.plain(server.port()))) {
      List<TestClient> victims = party.users().subList(0, killed);
      List<TestClient> others = party.users().subList(killed, USERS);
      party.all(
          party.users(),
          user -> {
            if (victims.contains(user)) {
              // With bytes that nobody has read: the connection is reset.
              user.receive(MESSAGES);
              user.close();
              return;
            }
            sayAll(user);
            user.receive((long) (others.size() - 1) * MESSAGES);
          });
      assertThat(others)
          .allSatisfy(user -> assertThat(user.ledger.wrong(others.size() - 1, MESSAGES)).isEmpty());
      assertThat(victims).allSatisfy(user -> assertThat(user.ledger.wrong()).isEmpty());
      assertThat(server.audited()).contains("\"closed\":" + killed + ",").contains("\"users\":15");
    }
  }

  @ParameterizedTest
  @MethodSource(ENGINES)
  void aSlowReaderIsDisconnectedAndAccountedFor(String engine) throws Exception {
    // More than kernel (4 MiB) and queue take together.
    int rounds = 120;
    int perRound = 25;
    // On one thread, the slow reader holds up the speakers, and its queue does not grow further.
    int stallSeconds = engine.equals("one-thread") ? 3 : 600;
    Limits limits = new Limits(USERS, 256 << 10, stallSeconds);
    try (TestServer server = new TestServer(engine, limits);
        Party party = new Party(1, 3, user -> TestClient.plain(server.port()));
        Socket slow = slowReader(server.port())) {
      party.all(
          party.users(),
          user -> {
            for (int round = 1; round <= rounds; round++) {
              for (int i = 0; i < perRound; i++) {
                user.say(800);
              }
              // Nobody is more than a round ahead, so nobody else is slow.
              user.receive(2L * round * perRound);
            }
          });
      assertThat(party.users()).allSatisfy(user -> assertThat(user.ledger.wrong()).isEmpty());
      assertThat(server.audited())
          .containsPattern("\"dropped\":\\{[^}]*\"slow-reader\":[1-9]")
          .containsPattern("\"ended\":\\{[^}]*\"slow-reader\":1,")
          .contains("\"users\":3");
      assertThat(slow.isClosed()).isFalse();
    }
  }

  private static Socket slowReader(int port) throws Exception {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(4_096);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    socket
        .getOutputStream()
        .write("hello 1 slow\njoin room-0\n".getBytes(StandardCharsets.US_ASCII));
    InputStream answers = socket.getInputStream();
    StringBuilder said = new StringBuilder();
    while (said.indexOf("joined") < 0) {
      said.append((char) answers.read());
    }
    return socket;
  }
}
