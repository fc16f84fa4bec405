package assay.supermarket.store;

import assay.supermarket.data.Assortment;
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
import assay.supermarket.message.PriceChange;
import assay.supermarket.message.PriceUpdate;
import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptReport;
import assay.supermarket.message.Transfer;
import assay.supermarket.message.TransferReply;
import assay.supermarket.message.TransferRequest;
import assay.supermarket.model.Company;
import assay.supermarket.model.Refusal;
import assay.supermarket.post.Bookkeeper;
import assay.supermarket.post.Inbox;
import assay.supermarket.post.Outbox;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A supermarket: sells, takes goods back, orders what runs low, and tells headquarters of every
 * receipt.
 *
 * <p>Every change is applied under one lock.
 */
public final class Supermarket implements Agent, Bookkeeper {
  /**
   * Receipts that may wait for headquarters before customers wait at the till, a moment each. Who
   * asks anew once answered would else ask faster than receipts go, until purchases are refused.
   */
  public static final int RECEIPTS_WAITING_MANY = 5_000;

  /** How long a customer waits at the till then. */
  public static final int TILL_WAIT_MS = 50;

  /** Receipts that may wait for headquarters before purchases are refused. */
  static final int RECEIPTS_WAITING_MAX = 20_000;

  private static final int RECEIPTS_A_MESSAGE = 32;
  private static final int ORDER_LINES_A_MESSAGE = 64;
  private static final int TRANSFERS_A_MESSAGE = 32;
  private static final int TRANSFERS_WAITING_MAX = 500;
  private static final int TRANSFER_WAIT_MS = 2_000;

  private final AgentId id;
  private final Executor tier;
  private final List<AgentId> suppliers;
  private final ReentrantLock lock = new ReentrantLock();
  private final Store store;
  private final Inbox inbox = new Inbox();

  /** What was handed over to each supermarket that it may not know of yet, by number. */
  private final Map<String, TreeMap<Long, Transfer>> handedOver = new HashMap<>();

  private final Map<String, CompletableFuture<Void>> awaited = new HashMap<>();
  private final Outbox<Receipt> receipts;
  private final Map<String, Outbox<OrderLine>> orders = new TreeMap<>();
  private final Map<String, Outbox<Transfer>> transfers = new TreeMap<>();

  public Supermarket(
      AgentId id, Company company, Assortment assortment, Link link, Executor tier, Executor post) {
    this.id = id;
    this.tier = tier;
    SplittableRandom random =
        new SplittableRandom(assortment.sizes().seed() + id.toString().hashCode());
    store = new Store(assortment, random, new Mail());
    suppliers = company.suppliers(id.group());
    String sender = id.toString();
    receipts =
        new Outbox<>(
            company.headquarters(),
            Outbox.Pace.gathered(RECEIPTS_A_MESSAGE),
            (first, things) -> new ReceiptReport(sender, first, things),
            Acknowledgement.class,
            (through, answer) -> settled(company.headquarters(), through, answer),
            link,
            post);
    for (AgentId supplier : suppliers) {
      orders.put(
          supplier.toString(),
          new Outbox<>(
              supplier,
              Outbox.Pace.gathered(ORDER_LINES_A_MESSAGE),
              (first, things) -> new PlaceOrder(sender, first, things),
              Acknowledgement.class,
              (through, answer) -> settled(supplier, through, answer),
              link,
              post));
    }
    for (AgentId partner : company.partners(id)) {
      transfers.put(
          partner.toString(),
          new Outbox<>(
              partner,
              Outbox.Pace.atOnce(TRANSFERS_A_MESSAGE),
              (first, things) -> new TransferRequest(sender, first, things),
              TransferReply.class,
              (through, answer) -> transferred(partner, through, answer),
              link,
              post));
    }
  }

  @Override
  public AgentId id() {
    return id;
  }

  /** A customer takes the goods to the till and pays, or buys on credit. */
  public CompletionStage<Sold> buyInStore(int customer, List<Long> barCodes, boolean onCredit) {
    require(customer);
    return atTill(new Sale("in-store", customer, onCredit, barCodes));
  }

  /** A customer has the goods sent home, on credit; with a partner named, some come from there. */
  public CompletionStage<Sold> buyOnline(
      int customer, List<Long> barCodes, AgentId partner, int piecesFromPartner) {
    require(customer);
    Sale sale = new Sale("online", customer, true, barCodes);
    if (partner == null) {
      return atTill(sale);
    }
    return onTier(() -> fetch(partner, barCodes.subList(0, piecesFromPartner)))
        .thenCompose(there -> there)
        .thenCompose(there -> atTill(sale));
  }

  /** A customer pays a part of the debt. Returns how many cents. */
  public CompletionStage<Long> payInstalment(int customer) {
    require(customer);
    return onTier(() -> alone(() -> store.payInstalment(customer)));
  }

  /** A customer brings goods of a receipt back that the seed draws from those kept. */
  public CompletionStage<Sold> bringBack(long seed) {
    return onTier(
        () -> {
          Sold back = alone(() -> store.takeBack(seed));
          receipts.pump();
          return back;
        });
  }

  private CompletionStage<Sold> atTill(Sale sale) {
    Executor till =
        receipts.pending() < RECEIPTS_WAITING_MANY
            ? tier
            : CompletableFuture.delayedExecutor(TILL_WAIT_MS, TimeUnit.MILLISECONDS, tier);
    return CompletableFuture.supplyAsync(() -> sell(sale), till);
  }

  private Sold sell(Sale sale) {
    if (receipts.pending() >= RECEIPTS_WAITING_MAX) {
      throw new Refusal(Refusal.Reason.OVERLOADED, "headquarters does not take receipts");
    }
    Sold sold = alone(() -> store.sell(sale));
    receipts.pump();
    orders.values().forEach(Outbox::pump);
    return sold;
  }

  /** Completes when the goods came, or after a bounded wait without them: they come later then. */
  private CompletionStage<Void> fetch(AgentId partner, List<Long> barCodes) {
    Outbox<Transfer> outbox = transfers.get(partner.toString());
    if (outbox == null || outbox.pending() >= TRANSFERS_WAITING_MAX) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> there = new CompletableFuture<>();
    lock.lock();
    try {
      List<OrderLine> lines =
          barCodes.stream().map(code -> new OrderLine(store.productOf(code), 1)).toList();
      awaited.put(partner + "#" + outbox.add(new Transfer(lines)), there);
    } finally {
      lock.unlock();
    }
    outbox.pump();
    return there.completeOnTimeout(null, TRANSFER_WAIT_MS, TimeUnit.MILLISECONDS);
  }

  @Override
  public CompletionStage<? extends Message> receive(Message message) {
    return CompletableFuture.completedFuture(take(message));
  }

  private Message take(Message message) {
    if (message instanceof Delivery delivery) {
      return taken(delivery, () -> applyDelivery(delivery));
    } else if (message instanceof PriceUpdate update) {
      return taken(update, () -> applyPrices(update));
    } else if (message instanceof TransferRequest request) {
      return taken(request, () -> applyHandOver(request));
    }
    throw new IllegalArgumentException("a supermarket does not take " + message);
  }

  /** What follows from business goes into the outboxes. */
  private final class Mail implements Store.Office {
    @Override
    public void report(Receipt receipt) {
      receipts.add(receipt);
    }

    @Override
    public void order(OrderLine line) {
      AgentId supplier = suppliers.get(line.product() % suppliers.size());
      orders.get(supplier.toString()).add(line);
    }
  }

  private Acknowledgement applyDelivery(Delivery delivery) {
    List<OrderLine> lines = delivery.lines();
    int repeated = inbox.repeated(delivery.sender(), delivery.sequence(), lines.size());
    for (OrderLine line : lines.subList(repeated, lines.size())) {
      store.deliver(delivery.sender(), line);
    }
    inbox.took(delivery.sender(), lines.size() - repeated);
    return new Acknowledgement(delivery.sequence() + lines.size() - 1);
  }

  private Acknowledgement applyPrices(PriceUpdate update) {
    List<PriceChange> changes = update.changes();
    int repeated = inbox.repeated(update.sender(), update.sequence(), changes.size());
    for (PriceChange change : changes.subList(repeated, changes.size())) {
      store.price(change);
    }
    inbox.took(update.sender(), changes.size() - repeated);
    return new Acknowledgement(update.sequence() + changes.size() - 1);
  }

  private TransferReply applyHandOver(TransferRequest request) {
    String to = request.sender();
    List<Transfer> wanted = request.transfers();
    TreeMap<Long, Transfer> kept = handedOver.computeIfAbsent(to, supermarket -> new TreeMap<>());
    // It asks from the first on whose answer it has not got.
    kept.headMap(request.sequence()).clear();
    int repeated = inbox.repeated(to, request.sequence(), wanted.size());
    if (repeated > 0 && !kept.containsKey(request.sequence())) {
      throw new IllegalStateException("a transfer is repeated that was answered long ago");
    }
    for (int i = repeated; i < wanted.size(); i++) {
      List<OrderLine> lines = wanted.get(i).lines();
      kept.put(
          request.sequence() + i,
          new Transfer(lines.stream().map(line -> store.handOver(to, line)).toList()));
    }
    inbox.took(to, wanted.size() - repeated);
    return new TransferReply(
        request.sequence(), kept.values().stream().limit(wanted.size()).toList());
  }

  private void transferred(AgentId partner, long through, TransferReply reply) {
    if (reply.sequence() + reply.transfers().size() - 1 != through) {
      throw new IllegalStateException("answer " + reply.sequence() + " to transfer " + through);
    }
    List<CompletableFuture<Void>> there =
        alone(
            () -> {
              for (Transfer transfer : reply.transfers()) {
                transfer.lines().forEach(line -> store.receive(partner.toString(), line));
              }
              transfers.get(partner.toString()).settle(through);
              return LongStream.rangeClosed(reply.sequence(), through)
                  .mapToObj(number -> awaited.remove(partner + "#" + number))
                  .filter(Objects::nonNull)
                  .toList();
            });
    there.forEach(purchase -> purchase.complete(null));
  }

  private void settled(AgentId to, long through, Acknowledgement answer) {
    if (answer.sequence() != through) {
      throw new IllegalStateException("answer " + answer.sequence() + " to " + through);
    }
    lock.lock();
    try {
      outbox(to.toString()).settle(through);
    } finally {
      lock.unlock();
    }
  }

  private Outbox<?> outbox(String to) {
    Outbox<?> found = orders.get(to);
    return found == null ? receipts : found;
  }

  @Override
  public void restore() {
    lock.lock();
    try {
      store.restore();
    } finally {
      lock.unlock();
    }
  }

  /** Takes a message unless it has other products than there can be. */
  private <T> T taken(Message message, Supplier<T> change) {
    productsOf(message).forEach(store::requireProduct);
    return alone(change);
  }

  private static IntStream productsOf(Message message) {
    if (message instanceof PriceUpdate update) {
      return update.changes().stream().mapToInt(PriceChange::product);
    }
    Stream<OrderLine> lines =
        message instanceof Delivery delivery
            ? delivery.lines().stream()
            : ((TransferRequest) message)
                .transfers().stream().flatMap(transfer -> transfer.lines().stream());
    return lines.mapToInt(OrderLine::product);
  }

  /** Does it while nobody else changes the supermarket. */
  private <T> T alone(Supplier<T> change) {
    lock.lock();
    try {
      return change.get();
    } finally {
      lock.unlock();
    }
  }

  private <T> CompletableFuture<T> onTier(Supplier<T> work) {
    return CompletableFuture.supplyAsync(work, tier);
  }

  private void require(int customer) {
    if (!store.hasCustomer(customer)) {
      throw new Refusal(Refusal.Reason.UNKNOWN, "there is no customer " + customer);
    }
  }

  /** The supermarkets from which goods may come. */
  public List<AgentId> partners() {
    return transfers.keySet().stream().map(AgentId::parse).toList();
  }

  @Override
  public List<Outbox<?>> outboxes() {
    List<Outbox<?>> all = new ArrayList<>();
    all.add(receipts);
    all.addAll(orders.values());
    all.addAll(transfers.values());
    return all;
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
      store.book(accounts);
      inbox.book(accounts);
      outboxes().forEach(outbox -> outbox.book(accounts));
    } finally {
      lock.unlock();
    }
    return new AgentBooks(id.toString(), accounts);
  }
}
