package assay.airline.main.gateway;

import jakarta.inject.Singleton;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** How many requests each route had, by status. */
@Singleton
public class Counters {
  private final Map<Route, Map<Integer, LongAdder>> counts = new ConcurrentHashMap<>();

  void count(Route route, int status) {
    counts
        .computeIfAbsent(route, r -> new ConcurrentHashMap<>())
        .computeIfAbsent(status, s -> new LongAdder())
        .increment();
  }

  Map<String, Map<String, Long>> counts() {
    Map<String, Map<String, Long>> all = new TreeMap<>();
    counts.forEach(
        (route, statuses) -> {
          Map<String, Long> row = new TreeMap<>();
          statuses.forEach((status, count) -> row.put(String.valueOf(status), count.sum()));
          all.put(route.word(), row);
        });
    return all;
  }
}
