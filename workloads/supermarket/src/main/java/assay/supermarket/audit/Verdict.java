package assay.supermarket.audit;

import java.util.List;

/** One thing that must hold; {@code offenders} names the first few violations. */
public record Verdict(String invariant, List<String> offenders) {
  public boolean holds() {
    return offenders.isEmpty();
  }
}
