package assay.supermarket.supplier;

import assay.supermarket.link.Agent;
import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Account;
import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.AgentBooks;
import assay.supermarket.message.Delivery;
import assay.supermarket.message.Message;
import assay.supermarket.message.OrderLine;
import assay.supermarket.message.PlaceOrder;
import assay.supermarket.model.Company;
import assay.supermarket.post.Bookkeeper;
import assay.supermarket.post.Inbox;
import assay.supermarket.post.Outbox;
import assay.supermarket.post.Pieces;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A supplier: delivers all that the supermarkets of its group order, in the order of their orders.
 */
public final class Supplier implements Agent, Bookkeeper {
  private static final int LINES_A_MESSAGE = 64;

  private final AgentId id;
  private final Executor tier;
  private final ReentrantLock lock = new ReentrantLock();
  private final Inbox inbox = new Inbox();
  private final Map<String, Pieces> shipped = new TreeMap<>();
  private final Map<String, Outbox<OrderLine>> deliveries = new TreeMap<>();

  public Supplier(AgentId id, Company company, Link link, Executor tier) {
    this.id = id;
    this.tier = tier;
    String sender = id.toString();
    for (AgentId supermarket : company.supermarkets(id.group())) {
      deliveries.put(
          supermarket.toString(),
          new Outbox<>(
              supermarket,
              Outbox.Pace.gathered(LINES_A_MESSAGE),
              (first, lines) -> new Delivery(sender, first, first, lines),
              Acknowledgement.class,
              (through, answer) -> settled(supermarket, through, answer),
              link,
              tier));
    }
  }

  @Override
  public AgentId id() {
    return id;
  }

  @Override
  public CompletionStage<? extends Message> receive(Message message) {
    return CompletableFuture.supplyAsync(() -> take(message), tier);
  }

  private Acknowledgement take(Message message) {
    if (!(message instanceof PlaceOrder order)) {
      throw new IllegalArgumentException("a supplier does not take " + message);
    }
    if (!deliveries.containsKey(order.sender())) {
      throw new IllegalArgumentException(order.sender() + " is no customer of " + id);
    }
    lock.lock();
    try {
      apply(order);
    } finally {
      lock.unlock();
    }
    deliveries.get(order.sender()).pump();
    return new Acknowledgement(order.sequence() + order.lines().size() - 1);
  }

  /** The n-th line that a supermarket orders is the n-th that it gets. */
  private void apply(PlaceOrder order) {
    List<OrderLine> lines = order.lines();
    int repeated = inbox.repeated(order.sender(), order.sequence(), lines.size());
    for (OrderLine line : lines.subList(repeated, lines.size())) {
      Pieces.add(shipped, order.sender(), line);
      deliveries.get(order.sender()).add(line);
    }
    inbox.took(order.sender(), lines.size() - repeated);
  }

  private void settled(AgentId to, long through, Acknowledgement answer) {
    if (answer.sequence() != through) {
      throw new IllegalStateException("answer " + answer.sequence() + " to " + through);
    }
    lock.lock();
    try {
      deliveries.get(to.toString()).settle(through);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void restore() {
    lock.lock();
    try {
      shipped.clear();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Collection<Outbox<OrderLine>> outboxes() {
    return deliveries.values();
  }

  @Override
  public long effects() {
    lock.lock();
    try {
      return inbox.effects();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public AgentBooks books() {
    List<Account> accounts = new ArrayList<>();
    lock.lock();
    try {
      Pieces.book(accounts, "shipped/", shipped);
      inbox.book(accounts);
      deliveries.values().forEach(outbox -> outbox.book(accounts));
    } finally {
      lock.unlock();
    }
    return new AgentBooks(id.toString(), accounts);
  }
}
