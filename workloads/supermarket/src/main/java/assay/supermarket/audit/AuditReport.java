package assay.supermarket.audit;

import assay.supermarket.message.Account;
import assay.supermarket.message.AgentBooks;
import assay.supermarket.model.Company;
import assay.supermarket.model.Sizes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.eclipse.jetty.util.ajax.JSON;

/**
 * What an audit found.
 *
 * @param waitedMs until the company was at rest
 * @param totals sums over all agents of the accounts that are no fingerprints and name no agent
 */
public record AuditReport(long waitedMs, List<Verdict> verdicts, Map<String, Long> totals) {
  private static final String SCHEMA = "assay.supermarket-audit/1";

  public static AuditReport of(
      Company company, Sizes sizes, long waitedMs, List<AgentBooks> agents) {
    Map<String, Long> totals = new TreeMap<>();
    for (AgentBooks agent : agents) {
      for (Account account : agent.accounts()) {
        String name = account.name();
        if (name.startsWith("mail.")) {
          totals.merge(name.substring(0, name.indexOf('/')), account.amount(), Long::sum);
        } else if (!name.contains("#") && !name.contains("/")) {
          totals.merge(name, account.amount(), Long::sum);
        }
      }
    }
    return new AuditReport(waitedMs, Audit.check(company, sizes, agents), totals);
  }

  public boolean holds() {
    return verdicts.stream().allMatch(Verdict::holds);
  }

  public List<String> failed() {
    return verdicts.stream().filter(v -> !v.holds()).map(Verdict::invariant).toList();
  }

  public String json() {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("schema", SCHEMA);
    report.put("holds", holds());
    report.put("failed", failed());
    report.put("waited_ms", waitedMs);
    report.put("totals", totals);
    report.put("invariants", verdicts.stream().map(AuditReport::json).toList());
    return new JSON().toJSON(report);
  }

  private static Map<String, Object> json(Verdict verdict) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("name", verdict.invariant());
    one.put("holds", verdict.holds());
    one.put("offenders", verdict.offenders());
    return one;
  }

  /** The answer when there is no finding. */
  public static String unfinished(String why) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("schema", SCHEMA);
    report.put("holds", false);
    report.put("problem", "the audit could not be finished: " + why);
    return new JSON().toJSON(report);
  }
}
