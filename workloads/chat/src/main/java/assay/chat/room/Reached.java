package assay.chat.room;

import java.util.ArrayList;
import java.util.List;

/**
 * Clients for which something was queued that nobody writes yet. They are written to when all that
 * one read brought has been done, so that one write takes several messages. For one thread.
 */
public final class Reached {
  private final List<Client> clients = new ArrayList<>(0);

  /** Queues a message for the client. */
  public void offer(Client client, Message message) {
    if (client.outbox().offer(message) != Outbox.Offer.QUEUED) {
      clients.add(client);
    }
  }

  /** Queues what ends the connection. */
  public void offerLast(Client client, End reason, Message... messages) {
    if (client.outbox().offerLast(reason, messages) != Outbox.Offer.QUEUED) {
      clients.add(client);
    }
  }

  /** Has all of them written to, and ends those whose queues are too long. */
  public void flush() {
    for (Client client : clients) {
      if (client.outbox().isOverflowed()) {
        client.end(End.SLOW_READER);
      } else {
        client.flush();
      }
    }
    clients.clear();
  }
}
