package assay.airline.booking;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GateTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  private final Gate gate = new Gate();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  @Test
  void closingWaitsForThoseInsideAndRefusesOthersUntilItOpens() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch leaves = new CountDownLatch(1);
    Future<String> inside =
        threads.submit(
            () ->
                gate.through(
                    () -> {
                      entered.countDown();
                      leaves.await();
                      return "first";
                    }));
    entered.await();
    Future<Boolean> closed = threads.submit(() -> gate.close(LONG));
    assertThat(closed.isDone()).isFalse();
    leaves.countDown();
    assertThat(inside.get()).isEqualTo("first");
    assertThat(closed.get()).isTrue();
    assertThatThrownBy(() -> gate.through(() -> "late")).hasMessageContaining("audit");
    gate.open();
    String passed = gate.through(() -> "passed");
    assertThat(passed).isEqualTo("passed");
  }

  @Test
  void itOpensByItself() throws Exception {
    assertThat(gate.close(Duration.ofMillis(1))).isTrue();
    String passed = gate.through(() -> "passed");
    assertThat(passed).isEqualTo("passed");
  }
}
