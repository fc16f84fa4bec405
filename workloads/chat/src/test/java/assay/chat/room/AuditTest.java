package assay.chat.room;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The audit holds when all is right, and sees each defect that is planted here. */
class AuditTest {
  private static final byte[] SAID = "1 Good morning".getBytes(StandardCharsets.US_ASCII);

  private final Chat chat = new Chat(Limits.DEFAULT);
  private final Audit audit = new Audit(chat, "none");
  private List<Client> users;

  /** A client whose kernel takes everything at once. */
  private static final class Greedy extends Client {
    Greedy(Chat chat) {
      super(chat);
    }

    @Override
    protected void flush() {
      ByteBuffer buffer = ByteBuffer.allocate(64);
      boolean more = true;
      while (more) {
        buffer.clear();
        outbox().peek(buffer);
        more = outbox().advance(buffer.position());
      }
    }

    @Override
    protected void closeChannel() {}
  }

  @BeforeEach
  void threeUsersHaveTalked() throws Refused {
    users = IntStream.range(0, 3).mapToObj(i -> (Client) new Greedy(chat)).toList();
    for (Client user : users) {
      chat.connected(user);
      assertThat(chat.hello(user, "user-" + users.indexOf(user))).isTrue();
      chat.join(user, "lobby");
    }
    Reached reached = new Reached();
    for (Client user : users) {
      chat.say(user, SAID, 0, SAID.length, reached);
    }
    reached.flush();
  }

  private void offer(Client client) {
    Reached reached = new Reached();
    reached.offer(client, Message.delivery(new byte[0], SAID, 0, SAID.length));
    reached.flush();
  }

  @Test
  void itHoldsWhenAllIsRight() throws Exception {
    assertThat(audit.audit().status()).isEqualTo(200);
    users.get(0).end(End.CLOSED);
    assertThat(audit.audit())
        .isEqualTo(
            new Audit.Answer(
                200,
                "{\"holds\":true,\"failed\":[],\"connections\":2,\"users\":2,\"rooms\":1,"
                    + "\"said\":3,\"due\":6,\"delivered\":6,\"queued\":0,"
                    + "\"dropped\":{\"bye\":0,\"closed\":0,\"slow-reader\":0,\"error\":0,\"shutdown\":0},"
                    + "\"ended\":{\"bye\":0,\"closed\":1,\"slow-reader\":0,\"error\":0,\"shutdown\":0},"
                    + "\"refused\":0,\"engine\":\"none\"}"));
  }

  @Test
  void itSeesADuplicateWhileTheUserIsThere() throws Exception {
    offer(users.get(1));
    Audit.Answer answer = audit.audit();
    assertThat(answer.status()).isEqualTo(500);
    assertThat(answer.json())
        .contains("user-1 in room lobby: others said 2 messages, 3 were queued for it")
        .contains("rooms promised 6 deliveries, 7 were queued");
  }

  @Test
  void itSeesADuplicateAfterTheUserHasLeft() throws Exception {
    offer(users.get(1));
    assertThat(chat.leave(users.get(1))).isEqualTo("lobby");
    assertThat(audit.audit().json())
        .contains("user-1 in room lobby: others said 2 messages, 3 were queued for it");
  }

  @Test
  void itSeesALossOfAMember() throws Exception {
    users.get(2).messagesAtJoin--;
    assertThat(audit.audit().json())
        .contains("user-2 in room lobby: others said 3 messages, 2 were queued for it");
  }

  @Test
  void itSeesAnAddresseeThatWasPromisedAndNotReached() throws Exception {
    users.get(0).promised++;
    assertThat(audit.audit().json()).contains("rooms promised 7 deliveries, 6 were queued");
  }
}
