package assay.airline.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsTest {
  @Test
  void peersArePortsOrAddressesWithAnyBlanksBetweenThem() {
    // A study fills in nothing for the port of a process that it does not start.
    Settings settings = new Settings(Map.of("PEERS", " 8081   http://10.0.0.2:9  8083 "));
    assertThat(settings.peers("PEERS"))
        .containsExactly(
            URI.create("http://127.0.0.1:8081"),
            URI.create("http://10.0.0.2:9"),
            URI.create("http://127.0.0.1:8083"));
  }

  @Test
  void whatIsMissingOrNotUnderstoodIsNamed() {
    Settings settings = new Settings(Map.of("PEERS", "80a", "AIRLINE_DATA", "huge"));
    assertThatThrownBy(() -> settings.peers("PEERS")).hasMessageContaining("'80a' in PEERS");
    assertThatThrownBy(() -> settings.text("NOT")).hasMessageContaining("NOT is not set");
    assertThatThrownBy(settings::data).hasMessageContaining("'huge' is unknown");
  }
}
