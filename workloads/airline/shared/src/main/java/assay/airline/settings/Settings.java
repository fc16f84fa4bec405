package assay.airline.settings;

import jakarta.inject.Singleton;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What a service is told by its environment (see workload.toml). */
@Singleton
public class Settings {
  private static final int PORT_MAX = 65_535;

  private final Map<String, String> values;

  public Settings() {
    this(System.getenv());
  }

  public Settings(Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  public String text(String name) {
    String value = values.get(name);
    if (value == null || value.isBlank()) {
      throw new IllegalStateException(
          "environment variable " + name + " is not set: workload.toml says its values");
    }
    return value.strip();
  }

  public DataSize data() {
    return DataSize.named(text("AIRLINE_DATA"));
  }

  /**
   * Addresses of the instances of another service: ports of this machine or whole URLs, with blanks
   * between them.
   */
  public List<URI> peers(String name) {
    List<URI> peers = new ArrayList<>();
    for (String word : text(name).split("\\s+", -1)) {
      peers.add(address(name, word));
    }
    return List.copyOf(peers);
  }

  private static URI address(String name, String word) {
    if (word.startsWith("http://")) {
      return URI.create(word);
    }
    try {
      int port = Integer.parseInt(word);
      if (port > 0 && port <= PORT_MAX) {
        return URI.create("http://127.0.0.1:" + port);
      }
    } catch (NumberFormatException e) {
      // The same answer as to a number that is no port.
    }
    throw new IllegalStateException(
        "'" + word + "' in " + name + " is neither a port nor an address that begins with http://");
  }
}
