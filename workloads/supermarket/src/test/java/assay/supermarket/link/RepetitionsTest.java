package assay.supermarket.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RepetitionsTest {
  private final Counters counters = new Counters();
  private final Repetitions repetitions = new Repetitions(counters);
  private final AtomicInteger effects = new AtomicInteger();

  private CompletionStage<byte[]> take(String from, long life, long sequence, long floor)
      throws LinkException {
    AgentId to = new AgentId("b", "supplier", 0);
    Envelope envelope =
        new Envelope(Envelope.Kind.MESSAGE, from, life, sequence, floor, to, "Delivery", 0);
    return repetitions.once(
        envelope,
        () -> {
          effects.incrementAndGet();
          return CompletableFuture.completedFuture(new byte[] {(byte) sequence});
        });
  }

  @Test
  void aRepetitionGetsTheFirstAnswer() throws LinkException {
    CompletionStage<byte[]> first = take("a", 1, 5, 1);
    assertThat(take("a", 1, 5, 1)).isSameAs(first);
    assertThat(first.toCompletableFuture().join()).containsExactly(5);
    assertThat(effects).hasValue(1);
    assertThat(counters.snapshot().get("a").duplicates()).isEqualTo(1);
  }

  @Test
  void groupsCountForThemselves() throws LinkException {
    take("a", 1, 1, 1);
    take("c", 1, 1, 1);
    assertThat(effects).hasValue(2);
  }

  @Test
  void whatIsSettledIsForgottenAndHasNoSecondEffect() throws LinkException {
    for (long i = 1; i <= 1000; i++) {
      take("a", 1, i, Math.max(1, i - 9));
    }
    assertThat(repetitions.remembered()).isEqualTo(10);
    assertThatThrownBy(() -> take("a", 1, 3, 1)).hasMessageContaining("settled");
    take("a", 1, 200_000, 200_000);
    assertThat(repetitions.remembered()).isEqualTo(1);
    assertThat(effects).hasValue(1001);
  }

  @Test
  void whatIsFarAheadIsRefused() throws LinkException {
    take("a", 1, 1, 1);
    assertThatThrownBy(() -> take("a", 1, Repetitions.WINDOW + 1, 1))
        .hasMessageContaining("too far ahead");
    assertThatThrownBy(() -> take("a", 1, Long.MAX_VALUE, 1)).hasMessageContaining("too far");
    take("a", 1, Long.MAX_VALUE, Long.MAX_VALUE);
    assertThat(repetitions.remembered()).isEqualTo(1);
  }

  /** In no order: a clock that was put back shuts nobody out. */
  @Test
  void eachLifeOfAGroupCountsForItself() throws LinkException {
    take("a", 7, 1, 1);
    take("a", 3, 1, 1);
    take("a", 7, 2, 1);
    take("a", 7, 1, 1);
    take("a", 3, 1, 1);
    assertThat(effects).hasValue(3);
  }

  @Test
  void onlyTheLivesHeardFromLastAreRemembered() throws LinkException {
    take("a", 0, 1, 1);
    for (int i = 1; i <= 10 * Repetitions.LIVES_MAX; i++) {
      take("b", i, 1, 1);
      take("a", 0, 1, 1);
    }
    assertThat(repetitions.remembered()).isEqualTo(Repetitions.LIVES_MAX);
    assertThat(effects).hasValue(1 + 10 * Repetitions.LIVES_MAX);
  }
}
