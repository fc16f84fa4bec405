package assay.chat.room;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Users who hear each other. */
final class Room {
  private final String name;
  private final List<Client> members = new ArrayList<>();

  /** Messages said here since the room was made. */
  private long messages;

  /** Its last member has left: who wants to join makes a new one. */
  private boolean gone;

  Room(String name) {
    this.name = name;
  }

  String name() {
    return name;
  }

  /** The number of members with the new one; 0 when the room is gone. */
  synchronized int join(Client client, int membersMax) throws Refused {
    if (gone) {
      return 0;
    }
    if (members.size() >= membersMax) {
      throw new Refused("room-full", "the room has " + members.size() + " members");
    }
    members.add(client);
    client.prefix = ("from " + name + " " + client.name + " ").getBytes(StandardCharsets.US_ASCII);
    client.messagesAtJoin = messages;
    client.ownMessages = 0;
    client.dueAtJoin = client.due();
    return members.size();
  }

  /** True when nobody is left. What is wrong with the membership goes into the list. */
  synchronized boolean leave(Client client, List<String> failed) {
    check(client, failed);
    members.remove(client);
    client.prefix = null;
    gone = members.isEmpty();
    return gone;
  }

  /**
   * Queues what the client says, {@code SEQ TEXT} in the input, for all others.
   *
   * @return to how many
   */
  synchronized int say(Client sender, byte[] input, int from, int to, Reached reached) {
    Message message = Message.delivery(sender.prefix, input, from, to);
    messages++;
    sender.ownMessages++;
    for (Client member : members) {
      if (member != sender) {
        reached.offer(member, message);
      }
    }
    return members.size() - 1;
  }

  /** Each member must have been given each message that others said since it joined, once. */
  synchronized void check(List<String> failed) {
    for (Client member : members) {
      check(member, failed);
    }
  }

  private void check(Client member, List<String> failed) {
    long expected = messages - member.messagesAtJoin - member.ownMessages;
    long given = member.due() - member.dueAtJoin;
    if (given != expected) {
      failed.add(
          "%s in room %s: others said %d messages, %d were queued for it"
              .formatted(member.name, name, expected, given));
    }
  }
}
