package assay.chat.room;

/**
 * How much the server takes.
 *
 * @param roomUsersMax members of a room
 * @param queueBytesMax bytes that may wait for one client
 * @param stallSeconds for how long a client may take no byte while some wait
 */
public record Limits(int roomUsersMax, int queueBytesMax, int stallSeconds) {
  /** Rooms at once: enough for all connections that one process can hold, 20 to a room. */
  public static final int ROOMS_MAX = 1_024;

  /** VolanoMark's room, and a queue of about 2,000 messages of 100 bytes. */
  public static final Limits DEFAULT = new Limits(20, 256 << 10, 10);
}
