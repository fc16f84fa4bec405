package assay.brokerage.account;

import assay.brokerage.order.Order;
import assay.brokerage.order.OrderType;
import jakarta.persistence.Column;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.time.LocalDateTime;

/**
 * One customer's money. Every change of the account, its holdings and its orders is made by a
 * transaction that holds the lock of this row, so that orders of one account follow one another.
 */
@Entity
@Table(name = "account")
public class Account {
  @Id private int id;

  @Column(name = "user_id")
  private String userId;

  @Column(name = "password_hash")
  private String passwordHash;

  @Column(name = "opened_at")
  private LocalDateTime openedAt;

  @Column(name = "last_login")
  private LocalDateTime lastLogin;

  private int logins;
  private int logouts;

  @Column(name = "opening_balance")
  private BigDecimal openingBalance;

  private BigDecimal balance;

  @Column(name = "orders_opened")
  private long ordersOpened;

  @Embedded private FoldedOrders folded;

  @Column(name = "retired_shares")
  private long retiredShares;

  protected Account() {}

  public int id() {
    return id;
  }

  public String userId() {
    return userId;
  }

  public boolean hasPassword(String password) {
    return PasswordHash.of(userId, password).equals(passwordHash);
  }

  public void loggedIn(LocalDateTime at) {
    logins++;
    lastLogin = at;
  }

  public void loggedOut() {
    logouts++;
  }

  /** Money and count of a new order: a purchase is paid, a sale credited when it is opened. */
  public void opened(Order order) {
    ordersOpened++;
    balance =
        order.type() == OrderType.BUY
            ? balance.subtract(order.value())
            : balance.add(order.value());
    balance = balance.subtract(order.fee());
  }

  /** Takes a closed order that is about to be deleted into the totals. */
  public void fold(Order order) {
    folded.add(order);
  }

  /** Shares traded by orders that are no more, for the market's volume. */
  public long foldedShares() {
    return folded.sharesBought() + folded.sharesSold();
  }

  /**
   * Gives the row to a new customer. The shares that the former one traded stay counted, because
   * the quotes' volumes hold them too.
   */
  public void reopen(String password, BigDecimal opening, long tradedShares, LocalDateTime at) {
    passwordHash = PasswordHash.of(userId, password);
    openedAt = at;
    lastLogin = null;
    logins = 0;
    logouts = 0;
    openingBalance = opening;
    balance = opening;
    ordersOpened = 0;
    folded = FoldedOrders.none();
    retiredShares += tradedShares;
  }

  /** What the pages show. */
  public AccountView view() {
    return new AccountView(
        id, userId, openedAt, lastLogin, logins, logouts, openingBalance, balance, ordersOpened);
  }
}
