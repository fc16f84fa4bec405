package assay.supermarket.link;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** {@link LinkCounts} as they grow, by the other group. */
final class Counters {
  static final class OfGroup {
    final LongAdder sent = new LongAdder();
    final LongAdder repeated = new LongAdder();
    final LongAdder answered = new LongAdder();
    final LongAdder abandoned = new LongAdder();
    final LongAdder received = new LongAdder();
    final LongAdder duplicates = new LongAdder();
  }

  private final Map<String, OfGroup> byGroup = new ConcurrentHashMap<>();

  /** Callers bound the number of groups. */
  OfGroup of(String group) {
    return byGroup.computeIfAbsent(group, name -> new OfGroup());
  }

  Map<String, LinkCounts> snapshot() {
    Map<String, LinkCounts> counts = new TreeMap<>();
    byGroup.forEach(
        (group, now) ->
            counts.put(
                group,
                new LinkCounts(
                    now.sent.sum(),
                    now.repeated.sum(),
                    now.answered.sum(),
                    now.abandoned.sum(),
                    now.received.sum(),
                    now.duplicates.sum())));
    return counts;
  }
}
