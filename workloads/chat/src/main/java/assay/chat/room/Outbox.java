package assay.chat.room;

import java.nio.ByteBuffer;

/**
 * What waits for one client, bounded in bytes. At most one thread at a time empties it: the one
 * that was told so by {@link #offer}, until {@link #advance} says that nothing is left.
 */
public final class Outbox {
  /** What became of an offer. */
  public enum Offer {
    /** Somebody empties the queue already, or the connection has ended. */
    QUEUED,
    /** The caller has to see to it that the queue is emptied. */
    FLUSH,
    /** The queue would be too long: the caller has to end the connection. */
    OVERFLOW
  }

  private static final int SLOTS_AT_FIRST = 4;

  /** An empty ring that is longer is let go of: most clients are idle most of the time. */
  private static final int SLOTS_KEPT = 16;

  private static final Message[] NO_SLOTS = {};

  private final int bytesMax;
  private boolean webSocket;

  /** Its length is a power of two, or 0. */
  private Message[] ring = NO_SLOTS;

  private int first;
  private int count;
  private int bytes;

  /** Bytes of the first message that the kernel has taken. */
  private int offset;

  private boolean beingEmptied;

  /** Bytes that somebody is writing at this moment, or that the kernel did not take. */
  private int offered;

  private boolean overflowed;

  /** Why nothing comes behind what waits. */
  private End last;

  private boolean closed;

  private long due;
  private long delivered;
  private long dropped;
  private int waiting;

  /** Bytes that the kernel has taken since the start. Written under the lock, read without it. */
  private volatile long written;

  /** How many there were at the last look. This and the next belong to the one who looks. */
  private long writtenAtLook;

  private int looksWithoutProgress;

  Outbox(int bytesMax) {
    this.bytesMax = bytesMax;
  }

  public synchronized void useWebSocket() {
    webSocket = true;
  }

  public synchronized boolean isWebSocket() {
    return webSocket;
  }

  /** Puts a message behind what waits already. */
  public synchronized Offer offer(Message message) {
    if (message.isDelivery()) {
      due++;
    }
    if (closed || overflowed || last != null) {
      drop(message);
      return Offer.QUEUED;
    }
    if (message.length(webSocket) > bytesMax - bytes) {
      drop(message);
      overflowed = true;
      return Offer.OVERFLOW;
    }
    return add(message);
  }

  /** Puts the last messages of a connection behind what waits, however much that is. */
  synchronized Offer offerLast(End reason, Message... messages) {
    if (closed || overflowed || last != null) {
      return Offer.QUEUED;
    }
    last = reason;
    Offer offer = Offer.QUEUED;
    for (Message message : messages) {
      if (add(message) == Offer.FLUSH) {
        offer = Offer.FLUSH;
      }
    }
    return offer;
  }

  private Offer add(Message message) {
    if (count == ring.length) {
      grow();
    }
    ring[slot(count)] = message;
    count++;
    bytes += message.length(webSocket);
    if (message.isDelivery()) {
      waiting++;
    }
    if (beingEmptied) {
      return Offer.QUEUED;
    }
    beingEmptied = true;
    return Offer.FLUSH;
  }

  private void drop(Message message) {
    if (message.isDelivery()) {
      dropped++;
    }
  }

  /** Puts as much of what waits into the buffer as fits. Nothing is taken away by that. */
  public synchronized void peek(ByteBuffer buffer) {
    int skipped = offset;
    int before = buffer.position();
    for (int i = 0; i < count && buffer.hasRemaining(); i++) {
      ring[slot(i)].copy(webSocket, skipped, buffer);
      skipped = 0;
    }
    offered = buffer.position() - before;
  }

  /**
   * The kernel took so many bytes. True when something is left, which the same thread has to write.
   */
  public synchronized boolean advance(int taken) {
    if (closed) {
      return false;
    }
    offered -= taken;
    offset += taken;
    bytes -= taken;
    written += taken;
    while (count > 0 && offset >= ring[first].length(webSocket)) {
      offset -= ring[first].length(webSocket);
      if (ring[first].isDelivery()) {
        delivered++;
        waiting--;
      }
      ring[first] = null;
      first = slot(1);
      count--;
    }
    if (count > 0) {
      return true;
    }
    beingEmptied = false;
    if (ring.length > SLOTS_KEPT) {
      ring = NO_SLOTS;
      first = 0;
    }
    return false;
  }

  /**
   * Drops what waits, once.
   *
   * @return why the connection really ended: what was said last counts, not that the client closed
   *     after it; null if it was closed before
   */
  synchronized End close(End reason) {
    if (closed) {
      return null;
    }
    closed = true;
    dropped += waiting;
    waiting = 0;
    ring = NO_SLOTS;
    count = 0;
    bytes = 0;
    return last != null ? last : reason;
  }

  public synchronized boolean isBeingEmptied() {
    return beingEmptied && !closed;
  }

  public synchronized boolean isClosed() {
    return closed;
  }

  synchronized boolean isOverflowed() {
    return overflowed;
  }

  /** Nothing more is to come: what the client sends is not read any more. */
  public synchronized boolean isEnding() {
    return last != null || closed || overflowed;
  }

  /** All that was to be sent has been. */
  public synchronized boolean isFinished() {
    return last != null && count == 0 && !closed;
  }

  /**
   * To be asked at regular intervals: for how many of them the kernel has been offered bytes, or
   * the client has not closed after the last message, without the kernel having taken a byte. What
   * nobody has begun to write is not the client's fault. By one thread.
   *
   * <p>A client that takes bytes is passed without its lock: where the look met a thread that
   * writes, HotSpot inflated the monitor, and each later message to that client cost 479
   * instructions more, for good.
   */
  int looksWithoutProgress() {
    long now = written;
    boolean hasStalled = now == writtenAtLook && isOwed(now);
    looksWithoutProgress = hasStalled ? looksWithoutProgress + 1 : 0;
    writtenAtLook = now;
    return looksWithoutProgress;
  }

  /** Whether it is for the client to act, and the kernel has taken nothing more since. */
  private synchronized boolean isOwed(long writtenBefore) {
    boolean atRest = offered == 0 && (last == null || count > 0);
    return !atRest && written == writtenBefore;
  }

  synchronized Deliveries deliveries() {
    return new Deliveries(due, delivered, waiting, dropped);
  }

  private int slot(int ahead) {
    return (first + ahead) & (ring.length - 1);
  }

  private void grow() {
    Message[] longer = new Message[Math.max(SLOTS_AT_FIRST, 2 * ring.length)];
    for (int i = 0; i < count; i++) {
      longer[i] = ring[slot(i)];
    }
    ring = longer;
    first = 0;
  }
}
