package assay.brokerage.market;

import assay.brokerage.quote.QuoteView;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.util.List;

/** The market at one moment: the mean price of all quotes (the index), its opening, the movers. */
public record MarketSummary(
    LocalDateTime at,
    BigDecimal index,
    BigDecimal openIndex,
    BigDecimal gainPercent,
    long volume,
    List<QuoteView> gainers,
    List<QuoteView> losers) {}
