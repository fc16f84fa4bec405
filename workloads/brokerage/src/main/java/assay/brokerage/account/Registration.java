package assay.brokerage.account;

import assay.brokerage.Refused;
import assay.brokerage.Refused.Reason;
import assay.brokerage.order.Order;
import assay.brokerage.order.OrderState;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;

/**
 * Opens accounts for new customers without letting the table grow: a new customer gets the next
 * account of a ring that the data set brings, and what its former customer had is deleted.
 */
@Singleton
public class Registration {
  /** What every new customer starts with. */
  static final BigDecimal OPENING_BALANCE = new BigDecimal("1000000.00");

  private final EntityManager em;
  private final Clock clock;

  @Inject
  public Registration(EntityManager em, Clock clock) {
    this.em = em;
    this.clock = clock;
  }

  /** Empty when the account has open orders: they must be finished by its former customer. */
  @Transactional
  public Optional<AccountView> reopen(int accountId, String password, ProfileDetails details) {
    if (password == null || password.isBlank()) {
      throw new Refused(Reason.INVALID, "password: is missing");
    }
    Account account = Customers.locked(em, accountId);
    List<Order> orders =
        em.createQuery("select o from Order o where o.accountId = :account", Order.class)
            .setParameter("account", accountId)
            .getResultList();
    if (orders.stream().anyMatch(o -> o.state() == OrderState.OPEN)) {
      return Optional.empty();
    }
    long shares = account.foldedShares() + orders.stream().mapToLong(Order::quantity).sum();
    em.createQuery("delete from Order o where o.accountId = :account")
        .setParameter("account", accountId)
        .executeUpdate();
    em.createQuery("delete from Holding h where h.accountId = :account")
        .setParameter("account", accountId)
        .executeUpdate();
    account.reopen(password, OPENING_BALANCE, shares, LocalDateTime.now(clock));
    em.find(Profile.class, accountId).change(details);
    return Optional.of(account.view());
  }
}
