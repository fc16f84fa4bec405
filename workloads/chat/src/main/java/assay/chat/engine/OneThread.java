package assay.chat.engine;

import assay.chat.room.Chat;
import assay.chat.wire.Operations;
import java.nio.channels.SocketChannel;

/**
 * For each connection a thread that reads, and writes what its client says to the others itself. So
 * a client that does not read holds up the one who speaks to it, until its queue is full or it has
 * stalled for too long.
 */
final class OneThread extends Connection {
  OneThread(Chat chat, Operations operations, SocketChannel channel) {
    super(chat, operations, channel);
  }

  @Override
  public void start() {
    new Thread(this::readUntilClosed, "connection").start();
  }

  @Override
  protected void flush() {
    drain();
  }
}
