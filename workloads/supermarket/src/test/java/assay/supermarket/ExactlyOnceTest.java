package assay.supermarket;

import static org.assertj.core.api.Assertions.assertThat;

import assay.supermarket.audit.AuditReport;
import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Message;
import assay.supermarket.message.Numbered;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Messages that get lost, answers that get lost, and messages that come twice change nothing. */
class ExactlyOnceTest {
  private static final int SPOILED_MIN = 10;

  /** Loses every third message, every third answer, and sends every third message twice. */
  private static final class LossyLink implements Link {
    private final Link working;
    private final AtomicInteger sent = new AtomicInteger();
    private final AtomicInteger spoiled = new AtomicInteger();

    LossyLink(Link working) {
      this.working = working;
    }

    @Override
    public <R extends Message> CompletionStage<R> send(
        AgentId to, Message message, Class<R> reply) {
      if (!(message instanceof Numbered)) {
        return working.send(to, message, reply);
      }
      int number = sent.getAndIncrement();
      spoiled.addAndGet(number % 9 < 3 ? 1 : 0);
      return switch (number % 9) {
        case 0 -> CompletableFuture.failedFuture(new IllegalStateException("message lost"));
        case 1 ->
            working
                .send(to, message, reply)
                .thenCompose(
                    r -> CompletableFuture.failedFuture(new IllegalStateException("answer lost")));
        case 2 ->
            working.send(to, message, reply).thenCompose(first -> working.send(to, message, reply));
        default -> working.send(to, message, reply);
      };
    }
  }

  @Test
  void aLossyLinkLosesNothingAndDoublesNothing() throws Exception {
    LossyLink[] lossy = new LossyLink[1];
    try (TestCompany company =
        new TestCompany(List.of("north", "south"), working -> lossy[0] = new LossyLink(working))
            .start()) {
      long receipts = company.trade(40);
      // The busier the machine, the fuller and fewer the messages.
      while (lossy[0].spoiled.get() <= SPOILED_MIN) {
        receipts += company.trade(5);
      }
      AuditReport report = company.first().audit();
      assertThat(report.failed()).as(report.json()).isEmpty();
      assertThat(report.totals()).containsEntry("receipts.count", receipts);
      // Of three spoiled messages two fail, and each of these is repeated.
      assertThat(report.totals().get("mail.repeated")).isGreaterThan(SPOILED_MIN / 2);
    }
  }

  /** Gives what was delivered a new number, so that it comes twice: the audit must see it. */
  @Test
  void aDeliveryDoneTwiceFailsTheAudit() throws Exception {
    AtomicInteger doubled = new AtomicInteger();
    try (TestCompany company =
        new TestCompany(List.of("main"), working -> new Spoiler(working, doubled)).start()) {
      company.trade(60);
      AuditReport report = company.first().audit();
      assertThat(doubled.get()).isPositive();
      assertThat(report.failed())
          .contains("deliveries_are_what_suppliers_shipped", "each_message_took_effect_once");
    }
  }

  /** Answers a report of receipts without handing it on: the audit must see it. */
  @Test
  void aLostReceiptFailsTheAudit() throws Exception {
    AtomicInteger lost = new AtomicInteger();
    try (TestCompany company =
        new TestCompany(List.of("main"), working -> new Swallower(working, lost)).start()) {
      company.trade(5);
      AuditReport report = company.first().audit();
      assertThat(lost.get()).isEqualTo(1);
      assertThat(report.failed())
          .contains(
              "receipts_at_headquarters_are_those_of_the_supermarkets",
              "each_message_took_effect_once");
    }
  }
}
