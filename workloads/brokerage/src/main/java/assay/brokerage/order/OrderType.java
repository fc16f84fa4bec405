package assay.brokerage.order;

/** What an order does with shares. */
public enum OrderType {
  BUY,
  SELL
}
