package assay.probes;

import java.util.TreeMap;

/** The probe's answers: one line of JSON each. */
public final class Answer {
  private Answer() {}

  /** What is held, after the first growth ({@code ready}) or a command. */
  public static String of(String after, Kind kind, Held held) {
    StringBuilder json = new StringBuilder(128);
    json.append("{\"").append(after).append("\":true,\"kind\":\"").append(kind.word());
    json.append("\",\"pid\":").append(ProcessHandle.current().pid());
    json.append(",\"count\":").append(held.count());
    json.append(",\"bytes\":").append(held.bytes());
    new TreeMap<>(held.more())
        .forEach((name, value) -> json.append(",\"").append(name).append("\":").append(value));
    return json.append('}').toString();
  }

  /** Why a command was not followed. */
  public static String refusal(String why) {
    StringBuilder json = new StringBuilder("{\"error\":\"");
    for (int i = 0; i < why.length(); i++) {
      char c = why.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\');
      }
      json.append(c < ' ' ? ' ' : c);
    }
    return json.append("\"}").toString();
  }
}
