package assay.brokerage.web;

import assay.brokerage.Refused;
import assay.brokerage.Refused.Reason;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Who asks and with which values, wherever they came from. */
record Visit(OptionalInt account, Map<String, String> values) {

  int customer() {
    return account.orElseThrow(() -> new Refused(Reason.NOT_LOGGED_IN, "log in first"));
  }

  String text(String name) {
    String value = values.get(name);
    if (value == null || value.isBlank()) {
      throw new Refused(Reason.INVALID, name + ": is missing");
    }
    return value;
  }

  int number(String name) {
    String text = text(name);
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new Refused(Reason.INVALID, name + ": is no whole number");
    }
  }

  /** Empty when the value is not given. */
  OptionalLong optionalId(String name) {
    String text = values.get(name);
    if (text == null || text.isBlank()) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Long.parseLong(text));
    } catch (NumberFormatException e) {
      throw new Refused(Reason.INVALID, name + ": is no whole number");
    }
  }

  List<String> list(String name) {
    return List.of(text(name).split(",", -1));
  }
}
