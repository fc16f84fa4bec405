package assay.supermarket.post;

import assay.supermarket.message.Account;
import assay.supermarket.message.OrderLine;
import assay.supermarket.model.Fingerprint;
import java.util.List;
import java.util.Map;

/**
 * Pieces that went to or came from one agent, with their fingerprint. Guarded by its agent's lock.
 */
public final class Pieces {
  private long count;
  private long fingerprint;

  private void add(int product, long quantity) {
    count += quantity;
    fingerprint += quantity * Fingerprint.weight(product);
  }

  public static void add(Map<String, Pieces> byAgent, String agent, int product, long quantity) {
    byAgent.computeIfAbsent(agent, a -> new Pieces()).add(product, quantity);
  }

  public static void add(Map<String, Pieces> byAgent, String agent, OrderLine line) {
    add(byAgent, agent, line.product(), line.quantity());
  }

  /** Adds {@code PREFIX/agent} and {@code PREFIX/agent#} for each agent. */
  public static void book(List<Account> accounts, String prefix, Map<String, Pieces> byAgent) {
    byAgent.forEach(
        (agent, pieces) -> {
          accounts.add(new Account(prefix + agent, pieces.count));
          accounts.add(new Account(prefix + agent + "#", pieces.fingerprint));
        });
  }
}
