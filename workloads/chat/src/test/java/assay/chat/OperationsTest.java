package assay.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import assay.chat.room.Limits;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What a server is told, and what it says over HTTP. */
class OperationsTest {
  @ParameterizedTest
  @MethodSource("assay.chat.TestServer#engines")
  void readinessStatisticsAndAuditAreAnswered(String engine) throws Exception {
    try (TestServer server = new TestServer(engine)) {
      assertThat(server.get("/health").body()).isEqualTo("{\"ready\":true}");
      assertThat(server.get("/stats").body())
          .contains("\"users\":0,\"rooms\":0,\"said\":0,")
          .endsWith(",\"engine\":\"" + engine + "\"}");
      assertThat(server.audited()).startsWith("{\"holds\":true,\"failed\":[],");
      assertThat(server.get("/chat").statusCode()).isEqualTo(404);
      assertThat(server.get("/other").statusCode()).isEqualTo(404);
    }
  }

  @Test
  void settingsComeFromTheEnvironment() {
    assertThat(
            Settings.read(
                Map.of(
                    "CHAT_PORT", "1",
                    "CHAT_ENGINE", "selector",
                    "CHAT_SELECTORS", "3",
                    "CHAT_ROOM_USERS", "4",
                    "CHAT_QUEUE_BYTES", "5000",
                    "CHAT_STALL_SECONDS", "6")))
        .isEqualTo(new Settings("127.0.0.1", 1, "selector", 3, new Limits(4, 5_000, 6)));
    assertThat(Settings.read(Map.of()).limits()).isEqualTo(Limits.DEFAULT);
  }

  @ParameterizedTest
  @CsvSource({"CHAT_PORT,70000", "CHAT_QUEUE_BYTES,100", "CHAT_ROOM_USERS,many"})
  void aSettingThatCannotBeIsRefused(String name, String value) {
    assertThatThrownBy(() -> Settings.read(Map.of(name, value)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(name + "=" + value + " is not a number from ");
  }

  @Test
  void anUnknownEngineIsRefused() {
    assertThatThrownBy(() -> new TestServer("fibres"))
        .hasMessage("CHAT_ENGINE=fibres is none of two-threads, one-thread, virtual and selector");
  }

  @Test
  void virtualThreadsNeedAJdkThatHasThem() {
    assumeThat(Runtime.version().feature()).isLessThan(21);
    assertThatThrownBy(() -> new TestServer("virtual"))
        .hasMessageStartingWith("CHAT_ENGINE=virtual needs JDK 21 or later; this is 17");
  }
}
