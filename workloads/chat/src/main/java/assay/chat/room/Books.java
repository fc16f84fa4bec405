package assay.chat.room;

import java.util.EnumMap;
import java.util.Map;

/** Sums over clients. The one of those that have ended is guarded by the chat. */
final class Books {
  long users;
  long said;
  long promised;
  long refused;
  long due;
  long delivered;
  long queued;
  final Map<End, Long> dropped = new EnumMap<>(End.class);
  final Map<End, Long> ended = new EnumMap<>(End.class);

  /** Adds a client whose lock is held. */
  void add(Client client, End end) {
    Deliveries deliveries = client.outbox().deliveries();
    said += client.said;
    promised += client.promised;
    refused += client.refused;
    due += deliveries.due();
    delivered += deliveries.delivered();
    queued += deliveries.queued();
    if (end != null) {
      dropped.merge(end, deliveries.dropped(), Long::sum);
      ended.merge(end, 1L, Long::sum);
    } else {
      // Its connection is ending at this moment; until then nobody knows why.
      dropped.merge(End.CLOSED, deliveries.dropped(), Long::sum);
      users += client.name == null ? 0 : 1;
    }
  }

  void add(Books other) {
    users += other.users;
    said += other.said;
    promised += other.promised;
    refused += other.refused;
    due += other.due;
    delivered += other.delivered;
    queued += other.queued;
    other.dropped.forEach((end, count) -> dropped.merge(end, count, Long::sum));
    other.ended.forEach((end, count) -> ended.merge(end, count, Long::sum));
  }

  long allDropped() {
    return dropped.values().stream().mapToLong(Long::longValue).sum();
  }
}
