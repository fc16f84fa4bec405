package assay.probes;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a probe holds, to the byte.
 *
 * @param count things of its kind
 * @param bytes memory of these things, as {@link Kind} defines it for each kind
 * @param more further figures by name, each with its unit
 */
public record Held(long count, long bytes, Map<String, Long> more) {
  public Held {
    more = Map.copyOf(more);
  }

  public Held(long count, long bytes) {
    this(count, bytes, Map.of());
  }

  /** The same with one more figure. */
  public Held with(String name, long value) {
    Map<String, Long> longer = new LinkedHashMap<>(more);
    longer.put(name, value);
    return new Held(count, bytes, longer);
  }
}
