package assay.brokerage.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class OperationTest {
  private static final int DRAWS = 200_000;

  @Test
  void theWeightsAddUpToAHundredPercent() {
    assertThat(Stream.of(Operation.values()).mapToInt(Operation::weight).sum()).isEqualTo(100);
  }

  @Test
  void consecutiveSeedsDrawTheStandardMix() {
    Map<Operation, Integer> drawn = new EnumMap<>(Operation.class);
    for (long seed = 0; seed < DRAWS; seed++) {
      drawn.merge(Operation.draw(new SplittableRandom(seed)), 1, Integer::sum);
    }
    for (Operation operation : Operation.values()) {
      double percent = 100.0 * drawn.getOrDefault(operation, 0) / DRAWS;
      // Five standard deviations of a share of one half, the widest.
      assertThat(percent).isCloseTo(operation.weight(), Offset.offset(0.56));
    }
  }

  @Test
  void pathsAreFoundAndOthersAreNot() {
    assertThat(Operation.at("/portfolio")).contains(Operation.PORTFOLIO);
    assertThat(Operation.at("/admin")).isEmpty();
  }
}
