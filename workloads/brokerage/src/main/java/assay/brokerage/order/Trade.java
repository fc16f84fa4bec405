package assay.brokerage.order;

import java.math.BigDecimal;

/** Shares, price and fee of an order. */
public record Trade(String symbol, int quantity, BigDecimal price, BigDecimal fee) {}
