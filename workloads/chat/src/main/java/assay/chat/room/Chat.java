package assay.chat.room;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Who is connected and who is in which room. Locks are taken in this order: the client, its room,
 * an outbox. A client that has ended does nothing more: all it does asks that first, under its
 * lock, which {@link #ended} takes too.
 */
public final class Chat {
  /** Of broken invariants only the first are kept. */
  private static final int FAILED_MAX = 20;

  private final Limits limits;
  private final Set<Client> clients = ConcurrentHashMap.newKeySet();
  private final Map<String, Client> names = new ConcurrentHashMap<>();
  private final Map<String, Room> rooms = new ConcurrentHashMap<>();

  /** Guarded by itself: clients that have ended, and what was wrong with them. */
  private final Books past = new Books();

  private final List<String> failed = new ArrayList<>();

  public Chat(Limits limits) {
    this.limits = limits;
  }

  public Limits limits() {
    return limits;
  }

  /** All that are connected at this moment. */
  public Collection<Client> clients() {
    return clients;
  }

  public void connected(Client client) {
    clients.add(client);
  }

  /** Names a client. False when another one has the name. */
  public boolean hello(Client client, String name) {
    synchronized (client) {
      if (!client.outbox().isEnding()) {
        if (names.putIfAbsent(name, client) != null) {
          return false;
        }
        client.name = name;
      }
      return true;
    }
  }

  /** Lets a client into a room. The number of members, with it. */
  public int join(Client client, String name) throws Refused {
    synchronized (client) {
      if (client.room != null) {
        throw new Refused("in-room", "leave room " + client.room.name() + " first");
      }
      if (client.outbox().isEnding()) {
        return 0;
      }
      while (true) {
        Room room = rooms.get(name);
        if (room == null) {
          if (rooms.size() >= Limits.ROOMS_MAX) {
            throw new Refused("rooms-full", "there are " + Limits.ROOMS_MAX + " rooms");
          }
          room = rooms.computeIfAbsent(name, Room::new);
        }
        int members = room.join(client, limits.roomUsersMax());
        if (members > 0) {
          client.room = room;
          return members;
        }
        // Its last member left just now and is about to remove it.
        rooms.remove(name, room);
      }
    }
  }

  /** Lets a client out of its room. The room's name. */
  public String leave(Client client) throws Refused {
    synchronized (client) {
      if (client.room == null) {
        throw new Refused("no-room", "join a room first");
      }
      String name = client.room.name();
      leaveRoom(client);
      return name;
    }
  }

  /** Queues {@code SEQ TEXT} of the input for all others of the client's room. */
  public void say(Client client, byte[] input, int from, int to, Reached reached) throws Refused {
    synchronized (client) {
      if (client.outbox().isEnding()) {
        return;
      }
      if (client.room == null) {
        client.refused++;
        throw new Refused("no-room", "join a room first");
      }
      client.promised += client.room.say(client, input, from, to, reached);
      client.said++;
    }
  }

  /** Queues {@code counts}. Its figures are right for where it stands in the queue. */
  public void count(Client client, Reached reached) {
    synchronized (client) {
      Room room = client.room;
      if (room == null) {
        reached.offer(client, counts(client));
        return;
      }
      // Nobody may say anything between the look and the queueing.
      synchronized (room) {
        reached.offer(client, counts(client));
      }
    }
  }

  private static Message counts(Client client) {
    return Message.text("counts " + client.said + " " + client.due());
  }

  /** Takes a client out of its room, frees its name, and queues the last messages that it gets. */
  public void finish(Client client, End reason, Reached reached, Message... messages) {
    synchronized (client) {
      forget(client);
      reached.offerLast(client, reason, messages);
    }
  }

  /** Forgets a client and keeps its figures. Called once for each, after its outbox was closed. */
  void ended(Client client, End reason) {
    clients.remove(client);
    synchronized (client) {
      forget(client);
      if (reason != End.ANSWERED) {
        synchronized (past) {
          past.add(client, reason);
        }
      }
    }
  }

  private void forget(Client client) {
    leaveRoom(client);
    if (client.name != null) {
      names.remove(client.name, client);
    }
  }

  private void leaveRoom(Client client) {
    Room room = client.room;
    if (room == null) {
      return;
    }
    client.room = null;
    List<String> wrong = new ArrayList<>(0);
    if (room.leave(client, wrong)) {
      rooms.remove(room.name(), room);
    }
    synchronized (past) {
      wrong.stream().limit(FAILED_MAX - failed.size()).forEach(failed::add);
    }
  }

  /** What was counted so far. Its figures belong together when nothing is under way. */
  Books books() {
    Books books = new Books();
    // Those of the past first: a client that ends meanwhile is missing rather than counted twice.
    synchronized (past) {
      books.add(past);
    }
    for (Client client : clients) {
      synchronized (client) {
        if (!client.outbox().isClosed()) {
          books.add(client, null);
        }
      }
    }
    return books;
  }

  /** Invariants that were seen broken so far, and those that are broken in rooms now. */
  List<String> failed() {
    List<String> now = new ArrayList<>();
    synchronized (past) {
      now.addAll(failed);
    }
    rooms.values().forEach(room -> room.check(now));
    return now;
  }

  int rooms() {
    return rooms.size();
  }
}
