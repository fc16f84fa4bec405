package assay.supermarket;

import assay.supermarket.data.Assortment;
import assay.supermarket.link.AgentId;
import assay.supermarket.link.DirectLink;
import assay.supermarket.link.Link;
import assay.supermarket.model.Company;
import assay.supermarket.model.Sizes;
import assay.supermarket.store.Sold;
import assay.supermarket.store.Supermarket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/** A small company in one process, whose agents talk by a link of the test's choice. */
public final class TestCompany implements AutoCloseable {
  public static final Sizes SIZES = new Sizes(7, 50, 200, 100, 50);

  static final Assortment ASSORTMENT = new Assortment(SIZES);

  private final ExecutorService executor = Executors.newFixedThreadPool(4);
  private final ExecutorService post = Executors.newFixedThreadPool(2);
  private final ExecutorService blocking = Executors.newCachedThreadPool();
  private final DirectLink direct = new DirectLink();
  private final List<Backend> backends = new ArrayList<>();
  private final Link link;

  /** Makes the link that agents use of one that works. */
  public interface Wiring {
    Link wire(Link working);
  }

  public TestCompany(List<String> groups, Wiring wiring) {
    this.link = wiring.wire(direct);
    for (String group : groups) {
      Company company = new Company(group, groups, 2, 2);
      Backend.Executors executors =
          new Backend.Executors(executor, post, post, post, executor, blocking);
      Backend backend = new Backend(company, ASSORTMENT, link, executors);
      backends.add(backend);
      backend.agents().forEach(direct::add);
    }
  }

  public TestCompany(String... groups) {
    this(List.of(groups), link -> link);
  }

  /** As the company of these groups is known to the first. */
  public static Company company(String... groups) {
    return new Company(groups[0], List.of(groups), 2, 2);
  }

  public TestCompany start() {
    backends.forEach(Backend::start);
    return this;
  }

  /**
   * Keeps all threads busy that do what is asked of supermarkets and mined, until the latch opens.
   */
  public void occupy(CountDownLatch until) {
    for (int i = 0; i < 4; i++) {
      executor.execute(() -> await(until));
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** That of headquarters. */
  public Backend first() {
    return backends.get(0);
  }

  public List<Backend> backends() {
    return backends;
  }

  /** Requests of all kinds; returns the number of receipts when all are done. */
  public long trade(int rounds) {
    List<CompletableFuture<Long>> all = new ArrayList<>();
    for (Backend backend : backends) {
      for (Supermarket supermarket : backend.supermarkets()) {
        for (int i = 0; i < rounds; i++) {
          trade(supermarket, i, all);
        }
      }
    }
    return all.stream().mapToLong(CompletableFuture::join).sum();
  }

  private void trade(Supermarket supermarket, int i, List<CompletableFuture<Long>> all) {
    int customer = i % SIZES.customers();
    List<Long> basket = ASSORTMENT.basket(i, customer);
    List<AgentId> partners = supermarket.partners();
    AgentId partner = i % 3 == 0 ? partners.get(i % partners.size()) : null;
    Function<Sold, Long> receipts = sold -> sold.receipt() > 0 ? 1L : 0L;
    all.add(
        supermarket
            .buyInStore(customer, basket, i % 2 == 0)
            .thenApply(receipts)
            .toCompletableFuture());
    all.add(
        supermarket
            .buyOnline(customer, basket, partner, 5)
            .thenApply(receipts)
            .toCompletableFuture());
    all.add(supermarket.bringBack(i).thenApply(receipts).toCompletableFuture());
    all.add(supermarket.payInstalment(customer).thenApply(cents -> 0L).toCompletableFuture());
  }

  @Override
  public void close() {
    backends.forEach(Backend::stop);
    executor.shutdownNow();
    post.shutdownNow();
    blocking.shutdownNow();
  }
}
