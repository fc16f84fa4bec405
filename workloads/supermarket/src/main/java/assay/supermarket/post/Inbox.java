package assay.supermarket.post;

import assay.supermarket.message.Account;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which numbered messages took effect, for each sender. As a sender sends in order and one at a
 * time, the last number says all. Guarded by its agent's lock.
 */
public final class Inbox {
  private static final class Received {
    long last;
    long effects;
  }

  private final Map<String, Received> senders = new TreeMap<>();

  /** How many of {@code count} things numbered from {@code first} on are repetitions. */
  public int repeated(String sender, long first, int count) {
    Received received = senders.get(sender);
    long last = received == null ? 0 : received.last;
    if (first < 1 || count < 0 || first > last + 1) {
      throw new IllegalStateException(
          "number " + first + " from " + sender + " does not follow on " + last);
    }
    return (int) Math.min(count, last + 1 - first);
  }

  /** Takes down that {@code count} new things took effect. */
  public void took(String sender, int count) {
    Received received = senders.computeIfAbsent(sender, s -> new Received());
    received.last += count;
    received.effects += count;
  }

  /** All that took effect. */
  public long effects() {
    return senders.values().stream().mapToLong(r -> r.effects).sum();
  }

  public void book(List<Account> accounts) {
    senders.forEach((sender, r) -> accounts.add(new Account("mail.effects/" + sender, r.effects)));
  }
}
