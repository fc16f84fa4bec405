package assay.probes.reflection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.probes.Held;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccessorsTest {
  @ParameterizedTest
  @ValueSource(strings = {"method", "handle"})
  void everyAccessorIsCalledSoOften(String form) {
    Accessors accessors = new Accessors(20, form);
    accessors.grow(250);
    Held held = accessors.held();
    assertThat(held.count()).isEqualTo(250);
    assertThat(held.more()).containsEntry("calls", 5_000L).containsEntry("classes", 3L);
    // 125 getters, 20 calls each, return what the setter before them wrote last: 20.
    assertThat(held.more()).containsEntry("checksum", 125L * 20 * 20);
  }

  @Test
  void anotherFormIsRefused() {
    assertThatThrownBy(() -> new Accessors(1, "magic"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
