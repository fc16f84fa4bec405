package assay.brokerage.quote;

import assay.brokerage.Limits;
import assay.brokerage.Refused;
import assay.brokerage.Refused.Reason;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import java.util.ArrayList;
import java.util.List;

/** Reads quotes by symbol. */
@Singleton
public class Quotes {
  private final EntityManager em;

  @Inject
  public Quotes(EntityManager em) {
    this.em = em;
  }

  @Transactional
  public QuoteView quote(String symbol) {
    Quote quote = em.find(Quote.class, symbol);
    if (quote == null) {
      throw new Refused(Reason.NOT_FOUND, "no quote " + symbol);
    }
    return quote.view();
  }

  /** In the order asked for. */
  @Transactional
  public List<QuoteView> quotes(List<String> symbols) {
    if (symbols.isEmpty() || symbols.size() > Limits.SYMBOLS_MAX) {
      throw new Refused(
          Reason.INVALID, "symbols: ask for 1 to " + Limits.SYMBOLS_MAX + ", separated by commas");
    }
    List<QuoteView> found = new ArrayList<>(symbols.size());
    for (String symbol : symbols) {
      found.add(quote(symbol));
    }
    return found;
  }
}
