package assay.supermarket.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.supermarket.data.Assortment;
import assay.supermarket.model.Sizes;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShelvesTest {
  private static final Assortment ASSORTMENT = new Assortment(new Sizes(3, 20, 200, 300, 10));

  private final Shelves shelves = new Shelves(ASSORTMENT, new SplittableRandom(1));

  @Test
  void findsEachProductByItsBarCode() {
    for (int product = 0; product < ASSORTMENT.products(); product++) {
      assertThat(shelves.byBarCode(ASSORTMENT.barCode(product)).id).isEqualTo(product);
    }
  }

  @ParameterizedTest
  @ValueSource(
      longs = {
        Long.MIN_VALUE,
        -1,
        0,
        7,
        1_999_999_999_996L,
        2_000_000_002_001L,
        4_006_381_333_931L,
        Long.MAX_VALUE
      })
  void refusesOtherNumbers(long code) {
    assertThatThrownBy(() -> shelves.byBarCode(code))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(Long.toString(code));
  }

  @Test
  void refusesWrongCheckDigits() {
    long code = ASSORTMENT.barCode(42);
    for (long wrong = code / 10 * 10; wrong < code / 10 * 10 + 10; wrong++) {
      long digit = wrong;
      if (wrong != code) {
        assertThatThrownBy(() -> shelves.byBarCode(digit))
            .isInstanceOf(IllegalArgumentException.class);
      }
    }
  }
}
