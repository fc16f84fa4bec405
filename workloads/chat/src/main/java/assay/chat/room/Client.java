package assay.chat.room;

/**
 * One connection, and the user behind it once it has said hello. What {@link Chat} does with it is
 * done under its own lock; what concerns its membership, under its room's.
 */
public abstract class Client {
  private final Chat chat;
  private final Outbox outbox;

  /** Null before hello. */
  String name;

  Room room;

  /** Messages said, and those that were refused. */
  long said;

  long refused;

  /** Deliveries that were to come of what this client said. */
  long promised;

  /** {@code from ROOM NAME }, while it is in a room. */
  byte[] prefix;

  long messagesAtJoin;
  long ownMessages;
  long dueAtJoin;

  protected Client(Chat chat) {
    this.chat = chat;
    this.outbox = new Outbox(chat.limits().queueBytesMax());
  }

  public final Chat chat() {
    return chat;
  }

  public final Outbox outbox() {
    return outbox;
  }

  /** Deliveries that were queued, sent or dropped so far. */
  final long due() {
    return outbox.deliveries().due();
  }

  /**
   * Ends the connection now and drops what waits for it. Does nothing when it has ended. From any
   * thread that holds no lock.
   */
  public final void end(End reason) {
    End real = outbox.close(reason);
    if (real != null) {
      chat.ended(this, real);
      closeChannel();
    }
  }

  /**
   * To be called at regular intervals: ends a client that has taken nothing for so many of them
   * while something waited for it.
   */
  public final void endIfStalled(long intervalsMax) {
    if (outbox.looksWithoutProgress() >= intervalsMax) {
      end(End.SLOW_READER);
    }
  }

  /** Has the outbox emptied, soon or at once. Nobody else empties it meanwhile. */
  protected abstract void flush();

  /** Closes the connection; whoever waits in a read or write of it stops waiting. */
  protected abstract void closeChannel();
}
