package assay.brokerage.order;

import java.math.BigDecimal;
import java.util.List;

/** All holdings of an account with their sums. */
public record Portfolio(
    List<HoldingView> holdings, BigDecimal cost, BigDecimal value, BigDecimal gain) {
  static Portfolio of(List<HoldingView> holdings) {
    BigDecimal cost = BigDecimal.ZERO;
    BigDecimal value = BigDecimal.ZERO;
    for (HoldingView holding : holdings) {
      cost = cost.add(holding.cost());
      value = value.add(holding.value());
    }
    return new Portfolio(holdings, cost, value, value.subtract(cost));
  }
}
