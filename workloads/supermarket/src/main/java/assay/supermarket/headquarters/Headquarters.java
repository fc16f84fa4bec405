package assay.supermarket.headquarters;

import assay.supermarket.data.Assortment;
import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Account;
import assay.supermarket.message.Acknowledgement;
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
import assay.supermarket.post.Outbox;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** Headquarters: collects all receipts, mines them, and sends prices and discounts back. */
public final class Headquarters extends Bookkeeper {
  private static final int PRICES_A_MESSAGE = 64;
  private static final int MOST_MAX = 100;

  private final Assortment assortment;
  private final Executor tier;
  private final Executor mining;
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
    super(company.headquarters(), link, post);
    this.assortment = assortment;
    this.tier = tier;
    this.mining = mining;
    window = new ReceiptWindow(assortment);
    histories = new CustomerHistories(company, assortment);
    pricing = new Pricing(assortment);
    for (AgentId supermarket : company.supermarkets()) {
      prices.put(
          supermarket.toString(),
          gathered(
              supermarket,
              PRICES_A_MESSAGE,
              (first, changes) -> new PriceUpdate(id().toString(), first, changes)));
    }
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
    Acknowledgement taken =
        take(report, report.receipts(), receipt -> add(report.sender(), receipt));
    prices.values().forEach(Outbox::pump);
    return taken;
  }

  private void add(String supermarket, Receipt receipt) {
    ledger.add(supermarket, receipt);
    histories.add(supermarket, receipt);
    window.add(receipt);
    for (PriceChange change : pricing.afterReceipt(window)) {
      prices.values().forEach(outbox -> outbox.add(change));
    }
  }

  private Message answer(Message question) {
    if (question instanceof ProductAssociationQuery query) {
      return mine().withProduct(query.product(), atMost(query.most()));
    } else if (question instanceof CategoryAssociationQuery query) {
      return mine().withCategory(query.category(), atMost(query.most()));
    } else if (question instanceof BusinessReportQuery query) {
      return mine().business(atMost(query.most()));
    } else if (question instanceof BuyingBehaviourQuery query) {
      CustomerHistories.Behaviour behaviour =
          alone(() -> histories.behaviour(query.supermarket(), query.customer()));
      return behaviour.report(mine(), atMost(query.most()));
    }
    throw new IllegalArgumentException("headquarters does not take " + question);
  }

  private static int atMost(int asked) {
    return Math.max(0, Math.min(asked, MOST_MAX));
  }

  private Mine mine() {
    return alone(() -> new Mine(window.receipts(), assortment));
  }

  @Override
  protected Collection<Outbox<PriceChange>> outboxes() {
    return prices.values();
  }

  @Override
  protected void restoreData() {
    ledger.clear();
    histories.clear();
    window.restore();
    pricing.restore();
  }

  @Override
  protected void book(List<Account> accounts) {
    ledger.book(accounts);
  }
}
