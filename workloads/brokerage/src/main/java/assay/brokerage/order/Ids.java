package assay.brokerage.order;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.persistence.EntityManager;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Numbers for new orders and holdings. One server owns the database, so counting on from the
 * greatest stored number needs no sequence table. {@link #start} runs before the first order.
 */
@Singleton
public class Ids {
  private final EntityManager em;
  private final AtomicLong order = new AtomicLong();
  private final AtomicLong holding = new AtomicLong();

  @Inject
  public Ids(EntityManager em) {
    this.em = em;
  }

  public void start() {
    // A folded purchase lives on in its holding's reference: its number must not come again.
    long greatest =
        Math.max(
            greatest("select max(o.id) from Order o"),
            greatest("select max(h.buyOrderId) from Holding h"));
    order.set(greatest);
    holding.set(greatest("select max(h.id) from Holding h"));
  }

  private long greatest(String query) {
    Long greatest = em.createQuery(query, Long.class).getSingleResult();
    return greatest == null ? 0 : greatest;
  }

  long nextOrder() {
    return order.incrementAndGet();
  }

  long nextHolding() {
    return holding.incrementAndGet();
  }
}
