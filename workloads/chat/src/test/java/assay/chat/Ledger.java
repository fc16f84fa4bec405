package assay.chat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What one client was told by others, and what is wrong with it. */
final class Ledger {
  private final Map<String, Long> last = new TreeMap<>();
  private final List<String> wrong = new ArrayList<>();
  private long deliveries;

  /** A delivery, {@code from ROOM SENDER SEQ TEXT}. */
  void add(String delivery) {
    String[] words = delivery.split(" ", 5);
    String sender = words[1] + "/" + words[2];
    long sequence = Long.parseLong(words[3]);
    long before = last.getOrDefault(sender, 0L);
    if (sequence == before + 1) {
      last.put(sender, sequence);
    } else if (sequence > before) {
      wrong.add(
          "%s: %d to %d are missing before %d"
              .formatted(sender, before + 1, sequence - 1, sequence));
      last.put(sender, sequence);
    } else if (sequence == before) {
      wrong.add("%s: %d came twice".formatted(sender, sequence));
    } else {
      wrong.add("%s: %d came after %d".formatted(sender, sequence, before));
    }
    if (!words[4].startsWith(words[2] + "-" + sequence + "-")) {
      wrong.add(delivery + ": not the text that was said");
    }
    deliveries++;
  }

  /** All that is wrong when each of so many senders has said so many messages. */
  List<String> wrong(int senders, long messages) {
    List<String> all = new ArrayList<>(wrong);
    if (last.size() != senders) {
      all.add("%d senders, not %d".formatted(last.size(), senders));
    }
    last.forEach(
        (sender, sequence) -> {
          if (sequence != messages) {
            all.add("%s: the last one is %d, not %d".formatted(sender, sequence, messages));
          }
        });
    return all;
  }

  /** What is wrong with order and completeness so far. */
  List<String> wrong() {
    return List.copyOf(wrong);
  }

  long deliveries() {
    return deliveries;
  }
}
