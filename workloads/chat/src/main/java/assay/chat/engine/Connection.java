package assay.chat.engine;

import assay.chat.room.Chat;
import assay.chat.room.Client;
import assay.chat.room.End;
import assay.chat.room.Reached;
import assay.chat.wire.Operations;
import assay.chat.wire.Session;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A client's connection: what the engines have in common. */
public abstract class Connection extends Client {
  /** Several messages of usual size; each thread that waits for a client keeps that much. */
  private static final int READ_BYTES = 512;

  protected final SocketChannel channel;
  protected final Session session;

  protected Connection(Chat chat, Operations operations, SocketChannel channel) {
    super(chat);
    this.channel = channel;
    this.session = new Session(this, operations);
  }

  /** Begins to read. */
  public abstract void start() throws IOException;

  /** Says that the server ends, and what else waits. */
  public final void shutDown() {
    Reached reached = new Reached();
    session.shutDown(reached);
    reached.flush();
  }

  /** Reads until the client closes; for a thread that has nothing else to do. */
  protected final void readUntilClosed() {
    ByteBuffer buffer = ByteBuffer.allocate(READ_BYTES);
    Reached reached = new Reached();
    try {
      while (channel.read(buffer) >= 0) {
        session.receive(buffer.array(), buffer.position(), reached);
        buffer.clear();
        reached.flush();
      }
    } catch (IOException e) {
      // Reset by the client, or closed by another thread: both end the connection.
    } finally {
      end(End.CLOSED);
    }
  }

  /** Writes what waits. False when the kernel takes no more now. */
  protected final boolean drain() {
    ByteBuffer buffer = Buffers.take();
    try {
      boolean more = true;
      while (more) {
        buffer.clear();
        outbox().peek(buffer);
        buffer.flip();
        int taken = channel.write(buffer);
        boolean full = buffer.hasRemaining() && !channel.isBlocking();
        more = outbox().advance(taken);
        if (full && more) {
          return false;
        }
      }
      if (outbox().isFinished()) {
        channel.shutdownOutput();
      }
    } catch (IOException e) {
      end(End.CLOSED);
    } finally {
      Buffers.give(buffer);
    }
    return true;
  }

  @Override
  protected void closeChannel() {
    try {
      channel.close();
    } catch (IOException e) {
      // Nobody waits for what a failed close could have lost.
    }
  }
}
