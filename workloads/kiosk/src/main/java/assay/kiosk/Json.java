package assay.kiosk;

import java.util.ArrayList;
import java.util.List;

/** A JSON object or array in the making. */
final class Json {
  private final char open;
  private final char close;
  private final List<String> names = new ArrayList<>();
  private final List<Object> values = new ArrayList<>();

  private Json(char open, char close) {
    this.open = open;
    this.close = close;
  }

  static Json object() {
    return new Json('{', '}');
  }

  static Json array() {
    return new Json('[', ']');
  }

  /** Adds a member: text, a number, a boolean, or JSON. */
  Json with(String name, Object value) {
    names.add(name);
    values.add(value);
    return this;
  }

  /** Adds an element. */
  Json add(Object value) {
    values.add(value);
    return this;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(128);
    write(text);
    return text.toString();
  }

  private void write(StringBuilder text) {
    text.append(open);
    for (int i = 0; i < values.size(); i++) {
      if (i != 0) {
        text.append(',');
      }
      if (!names.isEmpty()) {
        quote(text, names.get(i));
        text.append(':');
      }
      Object value = values.get(i);
      if (value instanceof Json) {
        ((Json) value).write(text);
      } else if (value instanceof String) {
        quote(text, (String) value);
      } else {
        text.append(value);
      }
    }
    text.append(close);
  }

  private static void quote(StringBuilder text, String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      char letter = value.charAt(i);
      if (letter == '"' || letter == '\\') {
        text.append('\\').append(letter);
      } else if (letter < ' ') {
        text.append(String.format("\\u%04x", (int) letter));
      } else {
        text.append(letter);
      }
    }
    text.append('"');
  }
}
