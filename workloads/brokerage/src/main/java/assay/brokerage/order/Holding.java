package assay.brokerage.order;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.time.LocalDateTime;

/** Shares that a purchase brought and no sale has taken. */
@Entity
@Table(name = "holding")
public class Holding {
  @Id private long id;

  @Column(name = "account_id")
  private int accountId;

  @Column(name = "buy_order_id")
  private long buyOrderId;

  /** The open sale that will take this holding; null when nobody is selling it. */
  @Column(name = "sell_order_id")
  private Long sellOrderId;

  private String symbol;
  private int quantity;

  @Column(name = "purchase_price")
  private BigDecimal purchasePrice;

  @Column(name = "purchased_at")
  private LocalDateTime purchasedAt;

  protected Holding() {}

  Holding(long id, Order purchase, LocalDateTime at) {
    this.id = id;
    this.accountId = purchase.accountId();
    this.buyOrderId = purchase.id();
    this.symbol = purchase.symbol();
    this.quantity = purchase.quantity();
    this.purchasePrice = purchase.price();
    this.purchasedAt = at;
  }

  void sellBy(long orderId) {
    sellOrderId = orderId;
  }

  long id() {
    return id;
  }

  int accountId() {
    return accountId;
  }

  long buyOrderId() {
    return buyOrderId;
  }

  boolean inFlight() {
    return sellOrderId != null;
  }

  String symbol() {
    return symbol;
  }

  int quantity() {
    return quantity;
  }

  BigDecimal cost() {
    return purchasePrice.multiply(BigDecimal.valueOf(quantity));
  }

  HoldingView view(BigDecimal priceNow) {
    BigDecimal value = priceNow.multiply(BigDecimal.valueOf(quantity));
    return new HoldingView(
        id,
        symbol,
        quantity,
        purchasePrice,
        purchasedAt,
        priceNow,
        cost(),
        value,
        value.subtract(cost()),
        inFlight());
  }
}
