package assay.supermarket.post;

import static org.assertj.core.api.Assertions.assertThat;

import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.Message;
import assay.supermarket.message.OrderLine;
import assay.supermarket.message.PlaceOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** When messages go, and how full they are. */
class OutboxTest {
  private static final AgentId SUPPLIER = new AgentId("north", "supplier", 0);

  /** Answers at once, and keeps how many lines each message had. */
  private static final class Counting implements Link {
    final List<Integer> lines = Collections.synchronizedList(new ArrayList<>());

    @Override
    public <R extends Message> CompletionStage<R> send(
        AgentId to, Message message, Class<R> reply) {
      PlaceOrder order = (PlaceOrder) message;
      lines.add(order.lines().size());
      long through = order.sequence() + order.lines().size() - 1;
      return CompletableFuture.completedFuture(reply.cast(new Acknowledgement(through)));
    }
  }

  private final Counting link = new Counting();

  private Outbox<OrderLine> outbox(Outbox.Pace pace) {
    Outbox<OrderLine> made =
        new Outbox<>(
            SUPPLIER,
            pace,
            (first, lines) -> new PlaceOrder("north/supermarket/0", first, lines),
            Acknowledgement.class,
            (outbox, through, answer) -> outbox.settle(through),
            link,
            Runnable::run);
    made.start();
    return made;
  }

  private static void add(Outbox<OrderLine> outbox, int lines) {
    IntStream.range(0, lines)
        .forEach(
            i -> {
              outbox.add(new OrderLine(i, 1));
              outbox.pump();
            });
  }

  @Test
  void whatSomebodyWaitsForGoesAtOnce() {
    Outbox<OrderLine> outbox = outbox(Outbox.Pace.atOnce(4));
    add(outbox, 5);
    assertThat(link.lines).containsExactly(1, 1, 1, 1, 1);
    assertThat(outbox.pending()).isZero();
  }

  @Test
  void gatheredThingsGoWhenTheMessageIsFull() {
    Outbox<OrderLine> outbox = outbox(new Outbox.Pace(4, TimeUnit.HOURS.toNanos(1)));
    add(outbox, 7);
    // The first finds an outbox that has sent nothing yet.
    assertThat(link.lines).containsExactly(1, 4);
    assertThat(outbox.pending()).isEqualTo(2);
  }

  @Test
  void gatheredThingsGoWhenItIsTime() throws InterruptedException {
    Outbox<OrderLine> outbox = outbox(Outbox.Pace.gathered(1_000));
    add(outbox, 50);
    while (outbox.pending() > 0) {
      Thread.sleep(1);
    }
    assertThat(link.lines.stream().mapToInt(Integer::intValue).sum()).isEqualTo(50);
  }
}
