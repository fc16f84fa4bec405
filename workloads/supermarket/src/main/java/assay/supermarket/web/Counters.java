package assay.supermarket.web;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts answers by operation and outcome. */
final class Counters {
  /** How a request ended. */
  enum Outcome {
    DONE,
    /** Wrong parameters, or something that is not there. */
    WRONG,
    /** Refused because too much waited. */
    OVERLOADED,
    FAILED
  }

  private final Map<Operation, Map<Outcome, LongAdder>> counts = new EnumMap<>(Operation.class);

  Counters() {
    for (Operation operation : Operation.values()) {
      Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
      for (Outcome outcome : Outcome.values()) {
        outcomes.put(outcome, new LongAdder());
      }
      counts.put(operation, outcomes);
    }
  }

  void count(Operation operation, Outcome outcome) {
    counts.get(operation).get(outcome).increment();
  }

  Map<String, Object> json() {
    Map<String, Object> operations = new LinkedHashMap<>();
    counts.forEach(
        (operation, outcomes) -> {
          Map<String, Object> json = new LinkedHashMap<>();
          outcomes.forEach(
              (outcome, count) -> json.put(outcome.name().toLowerCase(Locale.ROOT), count.sum()));
          operations.put(operation.label(), json);
        });
    return operations;
  }
}
