package assay.brokerage;

import java.math.BigDecimal;

/**
 * The figures that keep the data from growing with the requests served, and the price of a trade.
 */
public final class Limits {
  /** Closed orders kept for each account; older ones are folded into the account's totals. */
  public static final int ORDERS_KEPT = 10;

  /** Holdings and open purchases of one account together. A purchase beyond it sells instead. */
  public static final int HOLDINGS_MAX = 10;

  /** Shares of one order. */
  public static final int QUANTITY_MAX = 200;

  /** Symbols on one quotes page. */
  public static final int SYMBOLS_MAX = 20;

  /** Characters of any text that a user may store. */
  public static final int TEXT_MAX = 100;

  /** What each order costs its account, in the account's currency. */
  public static final BigDecimal FEE = new BigDecimal("24.95");

  private Limits() {}
}
