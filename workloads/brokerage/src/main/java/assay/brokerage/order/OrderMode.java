package assay.brokerage.order;

/** Where an order is completed. */
public enum OrderMode {
  /** In the transaction that opens it. */
  SYNCHRONOUS,
  /** By the consumer of a queue. */
  QUEUE,
  /** By a thread of the server's managed pool. */
  MANAGED_THREAD;

  /** Reads the workload's option, as in {@code managed-thread}. */
  public static OrderMode parse(String option) {
    for (OrderMode mode : values()) {
      if (mode.option().equals(option)) {
        return mode;
      }
    }
    throw new IllegalArgumentException(
        "order mode '" + option + "' is unknown: use synchronous, queue or managed-thread");
  }

  public String option() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }
}
