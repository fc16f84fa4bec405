package assay.supermarket.supplier;

import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Account;
import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.Delivery;
import assay.supermarket.message.Message;
import assay.supermarket.message.OrderLine;
import assay.supermarket.message.PlaceOrder;
import assay.supermarket.model.Company;
import assay.supermarket.post.Bookkeeper;
import assay.supermarket.post.Outbox;
import assay.supermarket.post.Pieces;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * A supplier: delivers all that the supermarkets of its group order, in the order of their orders.
 */
public final class Supplier extends Bookkeeper {
  private static final int LINES_A_MESSAGE = 64;

  private final Executor tier;
  private final Map<String, Pieces> shipped = new TreeMap<>();
  private final Map<String, Outbox<OrderLine>> deliveries = new TreeMap<>();

  public Supplier(AgentId id, Company company, Link link, Executor tier) {
    super(id, link, tier);
    this.tier = tier;
    String sender = id.toString();
    for (AgentId supermarket : company.supermarkets(id.group())) {
      deliveries.put(
          supermarket.toString(),
          gathered(
              supermarket,
              LINES_A_MESSAGE,
              (first, lines) -> new Delivery(sender, first, first, lines)));
    }
  }

  @Override
  public CompletionStage<? extends Message> receive(Message message) {
    return CompletableFuture.supplyAsync(() -> take(message), tier);
  }

  private Acknowledgement take(Message message) {
    if (!(message instanceof PlaceOrder order)) {
      throw new IllegalArgumentException("a supplier does not take " + message);
    }
    Outbox<OrderLine> outbox = deliveries.get(order.sender());
    if (outbox == null) {
      throw new IllegalArgumentException(order.sender() + " is no customer of " + id());
    }
    // The n-th line that a supermarket orders is the n-th that it gets.
    Acknowledgement taken =
        take(
            order,
            order.lines(),
            line -> {
              Pieces.add(shipped, order.sender(), line);
              outbox.add(line);
            });
    outbox.pump();
    return taken;
  }

  @Override
  protected Collection<Outbox<OrderLine>> outboxes() {
    return deliveries.values();
  }

  @Override
  protected void restoreData() {
    shipped.clear();
  }

  @Override
  protected void book(List<Account> accounts) {
    Pieces.book(accounts, "shipped/", shipped);
  }
}
