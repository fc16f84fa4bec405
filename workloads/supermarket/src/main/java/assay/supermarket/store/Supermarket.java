package assay.supermarket.store;

import assay.supermarket.data.Assortment;
import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Account;
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
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * A supermarket: sells, takes goods back, orders what runs low, and tells headquarters of every
 * receipt.
 */
public final class Supermarket extends Bookkeeper {
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

  private final Executor tier;
  private final List<AgentId> suppliers;
  private final Store store;

  /** What was handed over to each supermarket that it may not know of yet, by number. */
  private final Map<String, TreeMap<Long, Transfer>> handedOver = new HashMap<>();

  private final Map<String, CompletableFuture<Void>> awaited = new HashMap<>();
  private final Outbox<Receipt> receipts;
  private final Map<String, Outbox<OrderLine>> orders = new TreeMap<>();
  private final Map<String, Outbox<Transfer>> transfers = new TreeMap<>();

  public Supermarket(
      AgentId id, Company company, Assortment assortment, Link link, Executor tier, Executor post) {
    super(id, link, post);
    this.tier = tier;
    SplittableRandom random =
        new SplittableRandom(assortment.sizes().seed() + id.toString().hashCode());
    store = new Store(assortment, random, new Mail());
    suppliers = company.suppliers(id.group());
    String sender = id.toString();
    receipts =
        gathered(
            company.headquarters(),
            RECEIPTS_A_MESSAGE,
            (first, things) -> new ReceiptReport(sender, first, things));
    for (AgentId supplier : suppliers) {
      orders.put(
          supplier.toString(),
          gathered(
              supplier,
              ORDER_LINES_A_MESSAGE,
              (first, things) -> new PlaceOrder(sender, first, things)));
    }
    for (AgentId partner : company.partners(id)) {
      transfers.put(
          partner.toString(),
          outbox(
              partner,
              Outbox.Pace.atOnce(TRANSFERS_A_MESSAGE),
              (first, things) -> new TransferRequest(sender, first, things),
              TransferReply.class,
              (outbox, through, answer) -> transferred(partner, outbox, through, answer)));
    }
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
    alone(
        () -> {
          List<OrderLine> lines =
              barCodes.stream().map(code -> new OrderLine(store.productOf(code), 1)).toList();
          long number = outbox.add(new Transfer(lines));
          awaited.put(partner + "#" + number, there);
          return number;
        });
    outbox.pump();
    return there.completeOnTimeout(null, TRANSFER_WAIT_MS, TimeUnit.MILLISECONDS);
  }

  @Override
  public CompletionStage<? extends Message> receive(Message message) {
    return CompletableFuture.completedFuture(take(message));
  }

  private Message take(Message message) {
    if (message instanceof Delivery delivery) {
      requireProducts(delivery.lines().stream().mapToInt(OrderLine::product));
      return take(delivery, delivery.lines(), line -> store.deliver(delivery.sender(), line));
    } else if (message instanceof PriceUpdate update) {
      requireProducts(update.changes().stream().mapToInt(PriceChange::product));
      return take(update, update.changes(), store::price);
    } else if (message instanceof TransferRequest request) {
      requireProducts(
          request.transfers().stream()
              .flatMap(each -> each.lines().stream())
              .mapToInt(OrderLine::product));
      return alone(() -> handOver(request));
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

  private TransferReply handOver(TransferRequest request) {
    String to = request.sender();
    List<Transfer> wanted = request.transfers();
    TreeMap<Long, Transfer> kept = handedOver.computeIfAbsent(to, supermarket -> new TreeMap<>());
    // It asks from the first on whose answer it has not got.
    kept.headMap(request.sequence()).clear();
    int repeated = repeated(request, wanted);
    if (repeated > 0 && !kept.containsKey(request.sequence())) {
      throw new IllegalStateException("a transfer is repeated that was answered long ago");
    }
    for (int i = repeated; i < wanted.size(); i++) {
      List<OrderLine> lines = wanted.get(i).lines();
      kept.put(
          request.sequence() + i,
          new Transfer(lines.stream().map(line -> store.handOver(to, line)).toList()));
    }
    took(request, wanted);
    return new TransferReply(
        request.sequence(), kept.values().stream().limit(wanted.size()).toList());
  }

  private void transferred(AgentId partner, Outbox<?> outbox, long through, TransferReply reply) {
    if (reply.sequence() + reply.transfers().size() - 1 != through) {
      throw new IllegalStateException("answer " + reply.sequence() + " to transfer " + through);
    }
    List<CompletableFuture<Void>> there =
        alone(
            () -> {
              for (Transfer transfer : reply.transfers()) {
                transfer.lines().forEach(line -> store.receive(partner.toString(), line));
              }
              outbox.settle(through);
              return LongStream.rangeClosed(reply.sequence(), through)
                  .mapToObj(number -> awaited.remove(partner + "#" + number))
                  .filter(Objects::nonNull)
                  .toList();
            });
    there.forEach(purchase -> purchase.complete(null));
  }

  private void requireProducts(IntStream products) {
    products.forEach(store::requireProduct);
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
  protected List<Outbox<?>> outboxes() {
    List<Outbox<?>> all = new ArrayList<>();
    all.add(receipts);
    all.addAll(orders.values());
    all.addAll(transfers.values());
    return all;
  }

  @Override
  protected void restoreData() {
    store.restore();
  }

  @Override
  protected void book(List<Account> accounts) {
    store.book(accounts);
  }
}
