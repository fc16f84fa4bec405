package assay.supermarket;

import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.Message;
import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptReport;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/** Hands all receipts on but the very first of one supermarket. */
final class Swallower implements Link {
  private final Link working;
  private final AtomicInteger lost;
  private final String victim = "main/supermarket/0";

  Swallower(Link working, AtomicInteger lost) {
    this.working = working;
    this.lost = lost;
  }

  @Override
  public <R extends Message> CompletionStage<R> send(AgentId to, Message message, Class<R> reply) {
    if (!(message instanceof ReceiptReport report) || !report.sender().equals(victim)) {
      return working.send(to, message, reply);
    }
    List<Receipt> receipts = report.receipts();
    long last = report.sequence() + receipts.size() - 1;
    if (report.sequence() == 1) {
      lost.set(1);
      receipts = receipts.subList(1, receipts.size());
    }
    ReceiptReport changed =
        new ReceiptReport(victim, Math.max(1, report.sequence() - 1), List.copyOf(receipts));
    return working.send(to, changed, reply).thenApply(any -> reply.cast(new Acknowledgement(last)));
  }
}
