package assay.probes.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.ScalarResult;

class LiveHeapTest {
  @Test
  void theDataIsCountedAndNothingElse() {
    LiveHeap.Before before = LiveHeap.before();
    // Arrays of 1 KiB with their headers. G1 gives a large one whole regions; and a full collection
    // leaves a region as it is where less than 5 % of it would be gained (MarkSweepDeadRatio), so
    // that an end too short for the next array counts as used.
    byte[][] data = new byte[32 << 10][(1 << 10) - 16];
    before.with(data);
    Collection<ScalarResult> results = new LiveHeap().afterIteration(null, null, null);
    assertThat(results).hasSize(1);
    assertThat(results.iterator().next().getScore()).isBetween(32.0 * (1 << 20), 33.0 * (1 << 20));
  }
}
