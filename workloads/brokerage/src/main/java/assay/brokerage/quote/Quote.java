package assay.brokerage.quote;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.math.RoundingMode;

/** The price of one share; each trade moves it. */
@Entity
@Table(name = "quote")
public class Quote {
  private static final BigDecimal PENNY = new BigDecimal("0.01");
  private static final BigDecimal PENNY_RECOVERY = new BigDecimal("600");
  private static final BigDecimal SPLIT_ABOVE = new BigDecimal("400");
  private static final BigDecimal SPLIT = new BigDecimal("0.5");

  @Id private String symbol;
  private String company;
  private BigDecimal price;

  @Column(name = "open_price")
  private BigDecimal openPrice;

  @Column(name = "low_price")
  private BigDecimal lowPrice;

  @Column(name = "high_price")
  private BigDecimal highPrice;

  @Column(name = "price_change")
  private BigDecimal priceChange;

  private long volume;

  protected Quote() {}

  public BigDecimal price() {
    return price;
  }

  /**
   * Counts the shares and moves the price by the factor. A price of one cent recovers, one above
   * 400 is split: the rule keeps prices in a range for any length of run.
   */
  public QuoteChange traded(int quantity, BigDecimal factor) {
    BigDecimal before = price;
    BigDecimal moved = before.multiply(appliedFactor(before, factor));
    price = moved.setScale(2, RoundingMode.HALF_UP).max(PENNY);
    priceChange = price.subtract(openPrice);
    lowPrice = lowPrice.min(price);
    highPrice = highPrice.max(price);
    volume += quantity;
    return new QuoteChange(symbol, before, price, quantity);
  }

  private static BigDecimal appliedFactor(BigDecimal price, BigDecimal factor) {
    if (price.compareTo(PENNY) <= 0) {
      return PENNY_RECOVERY;
    }
    return price.compareTo(SPLIT_ABOVE) > 0 ? SPLIT : factor;
  }

  public QuoteView view() {
    return new QuoteView(
        symbol, company, price, openPrice, lowPrice, highPrice, priceChange, volume);
  }
}
