package assay.probes.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

class SuiteTest {
  @Test
  void commentsAreNoOptions() {
    assertThat(Suite.words(List.of("# a comment", "-f 1  -foe true", "", " -wi 3")))
        .containsExactly("-f", "1", "-foe", "true", "-wi", "3");
  }

  @Test
  void classFilesAreThoseOfRelease8() throws Exception {
    for (Class<?> type : List.of(Suite.class, PointerChase.class, ReferenceMap.class)) {
      String file = type.getSimpleName() + ".class";
      try (DataInputStream bytes = new DataInputStream(type.getResourceAsStream(file))) {
        assertThat(bytes.readInt()).isEqualTo(0xcafebabe);
        assertThat(bytes.readUnsignedShort()).isZero();
        assertThat(bytes.readUnsignedShort()).as(file).isEqualTo(52);
      }
    }
  }
}
