package assay.probes.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.ScalarResult;

class LiveHeapTest {
  @Test
  void theDataIsCountedAndNothingElse() {
    LiveHeap.Before before = LiveHeap.before();
    // Small arrays: G1 gives a large one whole regions.
    byte[][] data = new byte[1024][32 << 10];
    before.with(data);
    Collection<ScalarResult> results = new LiveHeap().afterIteration(null, null, null);
    assertThat(results).hasSize(1);
    assertThat(results.iterator().next().getScore()).isBetween(32.0 * (1 << 20), 33.0 * (1 << 20));
  }
}
