package assay.supermarket;

import assay.supermarket.model.Company;
import assay.supermarket.model.Sizes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the environment says, checked.
 *
 * @param address where to listen
 * @param peers the other groups: where they listen, as {@code host:port}
 * @param webThreads of the HTTP front end
 * @param partnerPermille share of online purchases with goods of another supermarket
 * @param keys file of the company's keys, or null
 */
public record Settings(
    String address,
    int port,
    Company company,
    Map<String, String> peers,
    Sizes sizes,
    int webThreads,
    int partnerPermille,
    String keys) {
  private static final String GROUP = "main";
  private static final int AGENTS_MAX = 100;

  /** Reads the variables SUPERMARKET_*. */
  public static Settings read(Map<String, String> environment) {
    Variables variables = new Variables(environment);
    Map<String, String> peers = peers(variables.text("PEERS", ""));
    String group = variables.text("GROUP", GROUP);
    List<String> groups = peers.isEmpty() ? List.of(group) : List.copyOf(peers.keySet());
    return new Settings(
        variables.text("ADDRESS", "127.0.0.1"),
        variables.number("PORT", 8080, 0, 65_535),
        new Company(
            group,
            groups,
            variables.number("SUPERMARKETS", 2, 1, AGENTS_MAX),
            variables.number("SUPPLIERS", 2, 1, AGENTS_MAX)),
        peers,
        sizes(variables),
        variables.number("WEB_THREADS", 16, 8, 1_000),
        variables.number("PARTNER_PERMILLE", 100, 0, 1_000),
        variables.text("KEYS", null));
  }

  /** {@code group=host:port,...}, headquarters' group first; this group is one of them. */
  private static Map<String, String> peers(String text) {
    Map<String, String> peers = new LinkedHashMap<>();
    if (text.isEmpty()) {
      return peers;
    }
    for (String peer : text.split(",", -1)) {
      int equals = peer.indexOf('=');
      if (equals < 1 || peers.put(peer.substring(0, equals), peer.substring(equals + 1)) != null) {
        throw new IllegalArgumentException("SUPERMARKET_PEERS is not group=host:port,...: " + text);
      }
    }
    return peers;
  }

  private static Sizes sizes(Variables variables) {
    String data = variables.text("DATA", "standard");
    Sizes named =
        switch (data) {
          case "standard" -> Sizes.standard();
          case "small" -> Sizes.small();
          default ->
              throw new IllegalArgumentException(
                  "SUPERMARKET_DATA is standard or small, not " + data);
        };
    return new Sizes(
        variables.number("SEED", (int) named.seed(), 0, Integer.MAX_VALUE),
        variables.number("CUSTOMERS", named.customers(), 1, Integer.MAX_VALUE),
        variables.number("PRODUCTS", named.products(), 1, Integer.MAX_VALUE),
        variables.number("RECEIPTS_MINED", named.receiptsMined(), 1, Integer.MAX_VALUE),
        variables.number("RECEIPTS_RETURNABLE", named.receiptsReturnable(), 1, Integer.MAX_VALUE));
  }

  /** What {@code /stats} shows. */
  public Map<String, Object> shown() {
    Map<String, Object> shown = new TreeMap<>();
    shown.put("group", company.group());
    shown.put("groups", company.groups());
    shown.put("supermarkets", company.supermarketsPerGroup());
    shown.put("suppliers", company.suppliersPerGroup());
    shown.put("seed", sizes.seed());
    shown.put("customers", sizes.customers());
    shown.put("products", sizes.products());
    shown.put("partner_permille", partnerPermille);
    return shown;
  }

  /** Variables with defaults and bounds. */
  private record Variables(Map<String, String> environment) {
    String text(String name, String otherwise) {
      String text = environment.get("SUPERMARKET_" + name);
      return text == null || text.isEmpty() ? otherwise : text;
    }

    int number(String name, int otherwise, int from, int to) {
      String text = text(name, "");
      if (text.isEmpty()) {
        return otherwise;
      }
      int number;
      try {
        number = Integer.parseInt(text);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "SUPERMARKET_" + name + " is no whole number: " + text, e);
      }
      if (number < from || number > to) {
        throw new IllegalArgumentException(
            "SUPERMARKET_" + name + " must be from " + from + " to " + to);
      }
      return number;
    }
  }
}
