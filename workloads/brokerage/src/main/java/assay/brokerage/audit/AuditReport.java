package assay.brokerage.audit;

import java.util.List;

/** What an audit found. */
public record AuditReport(long waitedMs, List<Verdict> verdicts, Ledger ledger) {
  /** One invariant; {@code offenders} names the first few violations. */
  public record Verdict(String invariant, List<String> offenders) {
    public boolean holds() {
      return offenders.isEmpty();
    }
  }

  public boolean holds() {
    return verdicts.stream().allMatch(Verdict::holds);
  }

  public List<String> failed() {
    return verdicts.stream().filter(v -> !v.holds()).map(Verdict::invariant).toList();
  }
}
