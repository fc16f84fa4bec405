package assay.brokerage.quote;

import java.io.Serializable;
import java.math.BigDecimal;

/** One trade's effect on a price; travels over the topic. */
public record QuoteChange(String symbol, BigDecimal before, BigDecimal after, int quantity)
    implements Serializable {}
