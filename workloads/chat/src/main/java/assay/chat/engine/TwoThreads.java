package assay.chat.engine;

import assay.chat.room.Chat;
import assay.chat.wire.Operations;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/** The classic: for each connection a thread that reads and one that writes. */
final class TwoThreads extends Connection {
  private final Thread writer = new Thread(this::writeUntilClosed, "writer");

  TwoThreads(Chat chat, Operations operations, SocketChannel channel) {
    super(chat, operations, channel);
  }

  @Override
  public void start() {
    writer.start();
    new Thread(this::readUntilClosed, "reader").start();
  }

  private void writeUntilClosed() {
    while (!outbox().isClosed()) {
      if (outbox().isBeingEmptied()) {
        drain();
      } else {
        LockSupport.park(this);
      }
    }
  }

  @Override
  protected void flush() {
    LockSupport.unpark(writer);
  }

  @Override
  protected void closeChannel() {
    super.closeChannel();
    LockSupport.unpark(writer);
  }
}
