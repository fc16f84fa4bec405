package assay.brokerage.order;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import java.math.BigDecimal;
import java.util.List;

/** Reads what an account owns and has ordered. */
@Singleton
public class Positions {
  private final EntityManager em;

  @Inject
  public Positions(EntityManager em) {
    this.em = em;
  }

  @Transactional
  public Portfolio portfolio(int accountId) {
    List<Object[]> rows =
        em.createQuery(
                "select h, q.price from Holding h, Quote q"
                    + " where h.accountId = :account and q.symbol = h.symbol order by h.id",
                Object[].class)
            .setParameter("account", accountId)
            .getResultList();
    return Portfolio.of(
        rows.stream().map(row -> ((Holding) row[0]).view((BigDecimal) row[1])).toList());
  }

  /** Open and kept orders, newest first. */
  @Transactional
  public List<OrderView> orders(int accountId) {
    return em
        .createQuery(
            "select o from Order o where o.accountId = :account order by o.id desc", Order.class)
        .setParameter("account", accountId)
        .getResultList()
        .stream()
        .map(Order::view)
        .toList();
  }
}
