package assay.chat;

import assay.chat.room.Limits;
import java.util.Map;

/** What the environment says; README.md has the names. */
record Settings(String address, int port, String engine, int selectors, Limits limits) {
  /** No queue needs more to be long, nor a room to be full. */
  private static final int NUMBER_MAX = 1 << 30;

  static Settings read(Map<String, String> environment) {
    Limits usual = Limits.DEFAULT;
    return new Settings(
        environment.getOrDefault("CHAT_ADDRESS", "127.0.0.1"),
        number(environment, "CHAT_PORT", 8090, 0, 65_535),
        environment.getOrDefault("CHAT_ENGINE", "two-threads"),
        number(
            environment,
            "CHAT_SELECTORS",
            Runtime.getRuntime().availableProcessors(),
            1,
            NUMBER_MAX),
        new Limits(
            number(environment, "CHAT_ROOM_USERS", usual.roomUsersMax(), 1, NUMBER_MAX),
            // Room for a message of the greatest length and a few answers.
            number(environment, "CHAT_QUEUE_BYTES", usual.queueBytesMax(), 4_096, NUMBER_MAX),
            number(environment, "CHAT_STALL_SECONDS", usual.stallSeconds(), 1, NUMBER_MAX)));
  }

  private static int number(
      Map<String, String> environment, String name, int otherwise, int least, int most) {
    String word = environment.get(name);
    if (word == null || word.isEmpty()) {
      return otherwise;
    }
    try {
      int number = Integer.parseInt(word);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below, like a number out of range.
    }
    throw new IllegalArgumentException(
        "%s=%s is not a number from %d to %d".formatted(name, word, least, most));
  }
}
