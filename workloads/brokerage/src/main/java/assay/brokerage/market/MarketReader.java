package assay.brokerage.market;

import assay.brokerage.quote.Quote;
import assay.brokerage.quote.QuoteView;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Clock;
import java.time.LocalDateTime;
import java.util.List;

/** Reads a market summary from all quotes. */
@Singleton
public class MarketReader {
  private static final int MOVERS = 5;

  private final EntityManager em;
  private final Clock clock;

  @Inject
  public MarketReader(EntityManager em, Clock clock) {
    this.em = em;
    this.clock = clock;
  }

  @Transactional
  public MarketSummary read() {
    Object[] sums =
        em.createQuery(
                "select sum(q.price), sum(q.openPrice), sum(q.volume), count(q) from Quote q",
                Object[].class)
            .getSingleResult();
    BigDecimal count = new BigDecimal(((Number) sums[3]).longValue());
    BigDecimal index = mean((BigDecimal) sums[0], count);
    BigDecimal openIndex = mean((BigDecimal) sums[1], count);
    BigDecimal gainPercent =
        index.subtract(openIndex).movePointRight(2).divide(openIndex, 2, RoundingMode.HALF_UP);
    return new MarketSummary(
        LocalDateTime.now(clock),
        index,
        openIndex,
        gainPercent,
        ((Number) sums[2]).longValue(),
        movers("desc"),
        movers("asc"));
  }

  private List<QuoteView> movers(String direction) {
    return em
        .createQuery(
            "select q from Quote q order by q.priceChange " + direction + ", q.symbol", Quote.class)
        .setMaxResults(MOVERS)
        .getResultList()
        .stream()
        .map(Quote::view)
        .toList();
  }

  private static BigDecimal mean(BigDecimal sum, BigDecimal count) {
    return sum.divide(count, 2, RoundingMode.HALF_UP);
  }
}
