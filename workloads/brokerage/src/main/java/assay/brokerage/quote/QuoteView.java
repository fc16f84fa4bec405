package assay.brokerage.quote;

import java.math.BigDecimal;

/** A quote as the pages show it. */
public record QuoteView(
    String symbol,
    String company,
    BigDecimal price,
    BigDecimal openPrice,
    BigDecimal lowPrice,
    BigDecimal highPrice,
    BigDecimal priceChange,
    long volume) {}
