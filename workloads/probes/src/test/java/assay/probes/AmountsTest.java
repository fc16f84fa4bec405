package assay.probes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AmountsTest {
  @ParameterizedTest
  @CsvSource({"0, 0", "10, 10", "32k, 32768", "4m, 4194304", "1024m, 1073741824"})
  void unitsArePowersOf1024(String word, int number) {
    assertThat(new Amounts(List.of(word)).number(0)).isEqualTo(number);
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "1025m", "9999999999999999999", "k", "", "1g", "0x10"})
  void whatIsNoAmountIsRefused(String word) {
    assertThatThrownBy(() -> new Amounts(List.of(word)).number(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void nothingHasASizeOfZero() {
    assertThatThrownBy(() -> new Amounts(List.of("0")).size(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aKindIsToldHowItIsAskedFor() {
    assertThatThrownBy(() -> Kind.DIRECT.start(List.of("10")))
        .hasMessage("asked for as: direct COUNT BYTES");
  }
}
