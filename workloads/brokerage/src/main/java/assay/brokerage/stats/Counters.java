package assay.brokerage.stats;

import jakarta.inject.Singleton;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** What the server has done since it started. */
@Singleton
public class Counters {
  /** Happenings that belong to no single operation. */
  public enum Event {
    ORDER_OPENED,
    ORDER_COMPLETED,
    ORDER_RECOVERED,
    BUY_BECAME_SELL,
    SELL_BECAME_BUY,
    HAND_OVER_REFUSED,
    COMPLETION_FAILED,
    QUOTE_CHANGE_PUBLISHED,
    QUOTE_CHANGE_LOST
  }

  /** How an operation ended. */
  public enum Outcome {
    DONE,
    REFUSED,
    FAILED
  }

  private final Map<Event, LongAdder> events = new EnumMap<>(Event.class);
  private final Map<String, Map<Outcome, LongAdder>> operations = new ConcurrentHashMap<>();

  public Counters() {
    for (Event event : Event.values()) {
      events.put(event, new LongAdder());
    }
  }

  public void count(Event event) {
    events.get(event).increment();
  }

  /** The names are those of the server's operations, so their number is bounded. */
  public void count(String operation, Outcome outcome) {
    operations.computeIfAbsent(operation, o -> outcomes()).get(outcome).increment();
  }

  public Map<String, Long> events() {
    Map<String, Long> counts = new TreeMap<>();
    events.forEach(
        (event, count) -> counts.put(event.name().toLowerCase(Locale.ROOT), count.sum()));
    return counts;
  }

  public Map<String, Map<String, Long>> operations() {
    Map<String, Map<String, Long>> counts = new TreeMap<>();
    operations.forEach(
        (operation, outcomes) -> {
          Map<String, Long> row = new TreeMap<>();
          outcomes.forEach((o, count) -> row.put(o.name().toLowerCase(Locale.ROOT), count.sum()));
          counts.put(operation, row);
        });
    return counts;
  }

  private static Map<Outcome, LongAdder> outcomes() {
    Map<Outcome, LongAdder> outcomes = new EnumMap<>(Outcome.class);
    for (Outcome outcome : Outcome.values()) {
      outcomes.put(outcome, new LongAdder());
    }
    return outcomes;
  }
}
