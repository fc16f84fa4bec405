package assay.supermarket.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

class TiersTest {
  private static String threadOf(Executor executor) {
    return CompletableFuture.supplyAsync(() -> Thread.currentThread().getName(), executor).join();
  }

  @Test
  void eachRoleWorksOnItsTiersThreads() {
    try (Tiers tiers = Tiers.from(Map.of("SUPERMARKET_TIER2", "1"))) {
      assertThat(threadOf(tiers.supermarkets())).startsWith("tier1-supermarket-");
      assertThat(threadOf(tiers.headquarters())).isEqualTo("tier2-headquarters-0");
      assertThat(threadOf(tiers.suppliers())).startsWith("tier3-supplier-");
      assertThat(threadOf(tiers.post())).startsWith("tier4-post-");
      assertThat(threadOf(tiers.mining())).startsWith("tier5-mining-");
      int processors = Runtime.getRuntime().availableProcessors();
      assertThat(tiers).hasToString("pools of [%1$d, 1, %1$d, %1$d, %1$d]".formatted(processors));
    }
  }

  /** As many at once as were asked for, and one more waits. */
  @Test
  void aPoolHasTheThreadsThatWereAskedFor() throws InterruptedException {
    try (Tiers tiers = Tiers.from(Map.of("SUPERMARKET_TIER3", "3"))) {
      CountDownLatch three = new CountDownLatch(3);
      CountDownLatch go = new CountDownLatch(1);
      CountDownLatch four = new CountDownLatch(4);
      for (int i = 0; i < 4; i++) {
        tiers
            .suppliers()
            .execute(
                () -> {
                  // This order, so that whoever has seen three knows what has become of four.
                  four.countDown();
                  three.countDown();
                  try {
                    go.await();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
      }
      three.await();
      assertThat(four.getCount()).isEqualTo(1);
      go.countDown();
      four.await();
    }
  }

  @Test
  void whatThereIsNotIsRefused() {
    for (String size : new String[] {"0", "-1", "1025", "", "two", "99999999999"}) {
      assertThatThrownBy(() -> Tiers.from(Map.of("SUPERMARKET_TIER1", size)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("SUPERMARKET_TIER1=" + size);
    }
    assertThatThrownBy(() -> Tiers.from(Map.of("SUPERMARKET_THREADS", "green")))
        .hasMessage("SUPERMARKET_THREADS=green is not pools or virtual");
  }

  @Test
  void virtualThreadsNeedALaterJdk() {
    assumeTrue(Runtime.version().feature() < 21, "this JDK has virtual threads");
    assertThatThrownBy(() -> Tiers.from(Map.of("SUPERMARKET_THREADS", "virtual")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "needs JDK 21 or later; this is %d:".formatted(Runtime.version().feature()));
  }

  @Test
  void virtualThreadsAreMadeForEachTask() {
    assumeTrue(Runtime.version().feature() >= 21, "this JDK has no virtual threads");
    try (Tiers tiers = Tiers.from(Map.of("SUPERMARKET_THREADS", "virtual"))) {
      assertThat(threadOf(tiers.headquarters())).startsWith("tier2-headquarters-");
      // A virtual thread shows itself in its description: isVirtual() is not there to compile with.
      assertThat(
              CompletableFuture.supplyAsync(
                      () -> Thread.currentThread().toString(), tiers.suppliers())
                  .join())
          .startsWith("VirtualThread[");
    }
  }
}
