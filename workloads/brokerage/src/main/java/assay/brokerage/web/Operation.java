package assay.brokerage.web;

import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * What a customer can ask for. The weights are the standard mix of DayTrader's scenario servlet, in
 * percent (not that of its JMeter plan); login and market have none: the one begins sessions, the
 * other is part of other pages there.
 */
enum Operation {
  HOME(20, false),
  QUOTES(40, false),
  LOGIN(0, true),
  LOGOUT(4, true),
  REGISTER(2, true),
  ACCOUNT(10, false),
  PORTFOLIO(12, false),
  BUY(4, true),
  SELL(4, true),
  UPDATE(4, true),
  MARKET(0, false);

  private static final int WEIGHTS = 100;

  private final int weight;
  private final boolean changes;

  Operation(int weight, boolean changes) {
    this.weight = weight;
    this.changes = changes;
  }

  /** True for what changes data, and so takes POST only. */
  boolean changes() {
    return changes;
  }

  int weight() {
    return weight;
  }

  /** In lower case: the path without its slash, and the name in the counts. */
  String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Optional<Operation> at(String path) {
    for (Operation operation : values()) {
      if (path.equals("/" + operation.id())) {
        return Optional.of(operation);
      }
    }
    return Optional.empty();
  }

  static Operation draw(SplittableRandom random) {
    int left = random.nextInt(WEIGHTS);
    for (Operation operation : values()) {
      left -= operation.weight;
      if (left < 0) {
        return operation;
      }
    }
    throw new IllegalStateException("the weights add up to less than " + WEIGHTS);
  }
}
