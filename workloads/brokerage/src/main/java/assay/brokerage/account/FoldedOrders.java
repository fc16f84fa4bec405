package assay.brokerage.account;

import assay.brokerage.order.Order;
import assay.brokerage.order.OrderType;
import jakarta.persistence.Column;
import jakarta.persistence.Embeddable;
import java.math.BigDecimal;

/** Totals of an account's closed orders that were deleted to keep the table small. */
@Embeddable
public class FoldedOrders {
  @Column(name = "folded_orders")
  private long orders;

  @Column(name = "folded_buy_cost")
  private BigDecimal buyCost = BigDecimal.ZERO;

  @Column(name = "folded_sell_proceeds")
  private BigDecimal sellProceeds = BigDecimal.ZERO;

  @Column(name = "folded_sell_basis")
  private BigDecimal sellBasis = BigDecimal.ZERO;

  @Column(name = "folded_fees")
  private BigDecimal fees = BigDecimal.ZERO;

  @Column(name = "folded_shares_bought")
  private long sharesBought;

  @Column(name = "folded_shares_sold")
  private long sharesSold;

  protected FoldedOrders() {}

  static FoldedOrders none() {
    return new FoldedOrders();
  }

  void add(Order order) {
    orders++;
    fees = fees.add(order.fee());
    if (order.type() == OrderType.BUY) {
      buyCost = buyCost.add(order.value());
      sharesBought += order.quantity();
    } else {
      sellProceeds = sellProceeds.add(order.value());
      sellBasis = sellBasis.add(order.costBasis());
      sharesSold += order.quantity();
    }
  }

  long sharesBought() {
    return sharesBought;
  }

  long sharesSold() {
    return sharesSold;
  }
}
