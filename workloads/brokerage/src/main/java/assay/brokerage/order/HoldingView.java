package assay.brokerage.order;

import java.math.BigDecimal;
import java.time.LocalDateTime;

/** A holding as the pages show it, valued at the present price. */
public record HoldingView(
    long id,
    String symbol,
    int quantity,
    BigDecimal purchasePrice,
    LocalDateTime purchasedAt,
    BigDecimal priceNow,
    BigDecimal cost,
    BigDecimal value,
    BigDecimal gain,
    boolean inFlight) {}
