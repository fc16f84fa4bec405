package assay.supermarket.headquarters;

import assay.supermarket.data.Assortment;
import assay.supermarket.link.Agent;
import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Account;
import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.AgentBooks;
import assay.supermarket.message.BusinessReportQuery;
import assay.supermarket.message.BuyingBehaviourQuery;
import assay.supermarket.message.CategoryAssociationQuery;
import assay.supermarket.message.Message;
import assay.supermarket.message.PriceChange;
import assay.supermarket.message.PriceUpdate;
import assay.supermarket.message.ProductAssociationQuery;
import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptReport;
import assay.supermarket.model.Company;
import assay.supermarket.post.Bookkeeper;
import assay.supermarket.post.Inbox;
import assay.supermarket.post.Outbox;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;

/** Headquarters: collects all receipts, mines them, and sends prices and discounts back. */
public final class Headquarters implements Agent, Bookkeeper {
  private static final int PRICES_A_MESSAGE = 64;
  private static final int MOST_MAX = 100;

  private final AgentId id;
  private final Assortment assortment;
  private final Executor tier;
  private final Executor mining;
  private final ReentrantLock lock = new ReentrantLock();
  private final Inbox inbox = new Inbox();
  private final ReceiptLedger ledger = new ReceiptLedger();
  private final ReceiptWindow window;
  private final CustomerHistories histories;
  private final Pricing pricing;
  private final Map<String, Outbox<PriceChange>> prices = new TreeMap<>();

  public Headquarters(
      Company company,
      Assortment assortment,
      Link link,
      Executor tier,
      Executor mining,
      Executor post) {
    this.id = company.headquarters();
    this.assortment = assortment;
    this.tier = tier;
    this.mining = mining;
    window = new ReceiptWindow(assortment);
    histories = new CustomerHistories(company, assortment);
    pricing = new Pricing(assortment);
    for (AgentId supermarket : company.supermarkets()) {
      prices.put(
          supermarket.toString(),
          new Outbox<>(
              supermarket,
              Outbox.Pace.gathered(PRICES_A_MESSAGE),
              (first, changes) -> new PriceUpdate(id.toString(), first, changes),
              Acknowledgement.class,
              (through, answer) -> settled(supermarket, through, answer),
              link,
              post));
    }
  }

  @Override
  public AgentId id() {
    return id;
  }

  @Override
  public CompletionStage<? extends Message> receive(Message message) {
    return message instanceof ReceiptReport report
        ? CompletableFuture.supplyAsync(() -> take(report), tier)
        : CompletableFuture.supplyAsync(() -> answer(message), mining);
  }

  private Acknowledgement take(ReceiptReport report) {
    if (!prices.containsKey(report.sender())) {
      throw new IllegalArgumentException(report.sender() + " is no supermarket of the company");
    }
    int count = report.receipts().size();
    boolean changed = false;
    lock.lock();
    try {
      changed = apply(report);
    } finally {
      lock.unlock();
    }
    if (changed) {
      prices.values().forEach(Outbox::pump);
    }
    return new Acknowledgement(report.sequence() + count - 1);
  }

  /** Returns whether prices changed. */
  private boolean apply(ReceiptReport report) {
    List<Receipt> receipts = report.receipts();
    int repeated = inbox.repeated(report.sender(), report.sequence(), receipts.size());
    boolean changed = false;
    for (Receipt receipt : receipts.subList(repeated, receipts.size())) {
      ledger.add(report.sender(), receipt);
      histories.add(report.sender(), receipt);
      window.add(receipt);
      for (PriceChange change : pricing.afterReceipt(window)) {
        prices.values().forEach(outbox -> outbox.add(change));
        changed = true;
      }
    }
    inbox.took(report.sender(), receipts.size() - repeated);
    return changed;
  }

  private Message answer(Message question) {
    if (question instanceof ProductAssociationQuery query) {
      return mine().withProduct(query.product(), atMost(query.most()));
    } else if (question instanceof CategoryAssociationQuery query) {
      return mine().withCategory(query.category(), atMost(query.most()));
    } else if (question instanceof BusinessReportQuery query) {
      return mine().business(atMost(query.most()));
    } else if (question instanceof BuyingBehaviourQuery query) {
      CustomerHistories.Behaviour behaviour;
      lock.lock();
      try {
        behaviour = histories.behaviour(query.supermarket(), query.customer());
      } finally {
        lock.unlock();
      }
      return behaviour.report(mine(), atMost(query.most()));
    }
    throw new IllegalArgumentException("headquarters does not take " + question);
  }

  private static int atMost(int asked) {
    return Math.max(0, Math.min(asked, MOST_MAX));
  }

  private Mine mine() {
    lock.lock();
    try {
      return new Mine(window.receipts(), assortment);
    } finally {
      lock.unlock();
    }
  }

  private void settled(AgentId to, long through, Acknowledgement answer) {
    if (answer.sequence() != through) {
      throw new IllegalStateException("answer " + answer.sequence() + " to " + through);
    }
    lock.lock();
    try {
      prices.get(to.toString()).settle(through);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void restore() {
    lock.lock();
    try {
      ledger.clear();
      histories.clear();
      window.restore();
      pricing.restore();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Collection<Outbox<PriceChange>> outboxes() {
    return prices.values();
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
      ledger.book(accounts);
      inbox.book(accounts);
      prices.values().forEach(outbox -> outbox.book(accounts));
    } finally {
      lock.unlock();
    }
    return new AgentBooks(id.toString(), accounts);
  }
}
