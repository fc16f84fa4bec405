package assay.brokerage.order;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.time.LocalDateTime;

/** An instruction to buy or sell shares at the price of the moment it was opened. */
@Entity
@Table(name = "orders")
public class Order {
  @Id private long id;

  @Column(name = "account_id")
  private int accountId;

  @Enumerated(EnumType.STRING)
  @Column(name = "order_type")
  private OrderType type;

  @Enumerated(EnumType.STRING)
  @Column(name = "order_state")
  private OrderState state;

  private String symbol;
  private int quantity;
  private BigDecimal price;
  private BigDecimal fee;

  /** What the shares of a sale had cost; zero for a purchase. */
  @Column(name = "cost_basis")
  private BigDecimal costBasis;

  /** The holding that a sale takes, or that a completed purchase made. */
  @Column(name = "holding_id")
  private Long holdingId;

  @Column(name = "opened_at")
  private LocalDateTime openedAt;

  @Column(name = "completed_at")
  private LocalDateTime completedAt;

  protected Order() {}

  private Order(long id, OrderType type, int accountId, LocalDateTime at) {
    this.id = id;
    this.type = type;
    this.accountId = accountId;
    this.openedAt = at;
    this.state = OrderState.OPEN;
  }

  static Order buy(long id, int accountId, Trade trade, LocalDateTime at) {
    Order order = new Order(id, OrderType.BUY, accountId, at);
    order.set(trade, BigDecimal.ZERO);
    return order;
  }

  static Order sell(long id, Holding holding, Trade trade, LocalDateTime at) {
    Order order = new Order(id, OrderType.SELL, holding.accountId(), at);
    order.set(trade, holding.cost());
    order.holdingId = holding.id();
    return order;
  }

  private void set(Trade trade, BigDecimal basis) {
    symbol = trade.symbol();
    quantity = trade.quantity();
    price = trade.price();
    fee = trade.fee();
    costBasis = basis;
  }

  void held(long madeHoldingId, LocalDateTime at) {
    state = OrderState.HELD;
    holdingId = madeHoldingId;
    completedAt = at;
  }

  void sold(LocalDateTime at) {
    state = OrderState.CLOSED;
    completedAt = at;
  }

  /** Says of a purchase that its holding has been sold. */
  void holdingSold() {
    state = OrderState.CLOSED;
  }

  public long id() {
    return id;
  }

  public int accountId() {
    return accountId;
  }

  public OrderType type() {
    return type;
  }

  public OrderState state() {
    return state;
  }

  public String symbol() {
    return symbol;
  }

  public int quantity() {
    return quantity;
  }

  public BigDecimal price() {
    return price;
  }

  public BigDecimal fee() {
    return fee;
  }

  public BigDecimal costBasis() {
    return costBasis;
  }

  Long holdingId() {
    return holdingId;
  }

  /** Price times quantity, without the fee. */
  public BigDecimal value() {
    return price.multiply(BigDecimal.valueOf(quantity));
  }

  public OrderView view() {
    return new OrderView(
        id, type, state, symbol, quantity, price, fee, value(), openedAt, completedAt);
  }
}
