package assay.brokerage.account;

import assay.brokerage.Refused;
import assay.brokerage.Refused.Reason;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.persistence.EntityManager;
import jakarta.persistence.LockModeType;
import jakarta.transaction.Transactional;
import java.time.Clock;
import java.time.LocalDateTime;
import java.util.List;

/** Login, logout and what customers say of themselves. */
@Singleton
public class Customers {
  private final EntityManager em;
  private final Clock clock;

  @Inject
  public Customers(EntityManager em, Clock clock) {
    this.em = em;
    this.clock = clock;
  }

  @Transactional
  public AccountView login(String userId, String password) {
    List<Account> found =
        em.createQuery("select a from Account a where a.userId = :user", Account.class)
            .setParameter("user", userId)
            .setLockMode(LockModeType.PESSIMISTIC_WRITE)
            .getResultList();
    if (found.isEmpty() || !found.get(0).hasPassword(password)) {
      throw new Refused(Reason.NOT_LOGGED_IN, "user or password is wrong");
    }
    Account account = found.get(0);
    account.loggedIn(LocalDateTime.now(clock));
    return account.view();
  }

  @Transactional
  public AccountView logout(int accountId) {
    Account account = locked(em, accountId);
    account.loggedOut();
    return account.view();
  }

  @Transactional
  public AccountView account(int accountId) {
    return existing(em.find(Account.class, accountId), accountId).view();
  }

  @Transactional
  public ProfileDetails profile(int accountId) {
    return existing(em.find(Profile.class, accountId), accountId).details();
  }

  @Transactional
  public ProfileDetails change(int accountId, ProfileDetails details) {
    locked(em, accountId);
    existing(em.find(Profile.class, accountId), accountId).change(details);
    return details;
  }

  /** The account with its row locked to the end of the transaction. */
  public static Account locked(EntityManager em, int accountId) {
    return existing(em.find(Account.class, accountId, LockModeType.PESSIMISTIC_WRITE), accountId);
  }

  private static <T> T existing(T row, int accountId) {
    if (row == null) {
      throw new Refused(Reason.NOT_FOUND, "no account " + accountId);
    }
    return row;
  }
}
