package assay.chat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A client sees what is wrong with what it gets. */
class PlantedFaultTest {
  private static final int MESSAGES = 100;

  @ParameterizedTest
  @CsvSource({
    "NONE,",
    "LOSS,7 to 7 are missing before 8",
    "LOSS_OF_THE_LAST,'the last one is 99, not 100'",
    "DUPLICATION,7 came twice",
    "REORDERING,7 to 7 are missing before 8",
    "CHANGE,not the text that was said"
  })
  void aClientSeesIt(Spoiler.Fault fault, String seen) throws Exception {
    try (TestServer server = new TestServer("selector");
        Spoiler spoiler = new Spoiler(server.port(), fault);
        Party party =
            new Party(1, 2, user -> TestClient.plain(user == 0 ? server.port() : spoiler.port()))) {
      TestClient speaker = party.users().get(0);
      TestClient listener = party.users().get(1);
      for (int i = 0; i < MESSAGES; i++) {
        speaker.say(100);
      }
      // A fence: the answer stands behind all deliveries.
      listener.send("count");
      // The speaker's messages may come after it; the server has all when it has counted them.
      speaker.send("count");
      assertThat(speaker.answer("counts")).isEqualTo("counts 100 0");
      listener.answer("counts");
      listener.send("count");
      assertThat(listener.answer("counts")).isEqualTo("counts 0 100");
      List<String> wrong = listener.ledger.wrong(1, MESSAGES);
      if (seen == null) {
        assertThat(wrong).isEmpty();
      } else {
        assertThat(wrong).anySatisfy(what -> assertThat(what).contains(seen));
      }
    }
  }
}
