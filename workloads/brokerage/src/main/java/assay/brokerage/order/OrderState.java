package assay.brokerage.order;

/** How far an order is. A purchase goes OPEN, HELD, CLOSED; a sale goes OPEN, CLOSED. */
public enum OrderState {
  /** The money has moved, the shares have not. */
  OPEN,
  /** A completed purchase whose holding is still there. */
  HELD,
  /** A completed sale, or a purchase whose holding was sold. */
  CLOSED
}
