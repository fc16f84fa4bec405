package assay.brokerage.web;

import java.util.Map;
import java.util.OptionalInt;

/**
 * What to show: a view, its values, and what becomes of the session.
 *
 * @param loggedIn the account whose session begins with this page
 * @param loggedOut true when the session ends with this page
 */
record Page(String view, Map<String, Object> values, OptionalInt loggedIn, boolean loggedOut) {

  static Page of(String view, Map<String, Object> values) {
    return new Page(view, values, OptionalInt.empty(), false);
  }

  Page withLogin(int account) {
    return new Page(view, values, OptionalInt.of(account), false);
  }

  Page withLogout() {
    return new Page(view, values, OptionalInt.empty(), true);
  }
}
