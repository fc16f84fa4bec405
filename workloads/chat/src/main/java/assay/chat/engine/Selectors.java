package assay.chat.engine;

import assay.chat.room.Chat;
import assay.chat.room.End;
import assay.chat.room.Reached;
import assay.chat.wire.Operations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A few threads that wait for all connections. Each reads its own; it writes to whomever it has
 * something for, after all that one wait brought, so that busy clients get several messages in one
 * write. Only where the kernel takes no more, the thread that the connection belongs to goes on.
 */
final class Selectors implements Engine {
  private static final int READ_BYTES = 16 << 10;

  private final Loop[] loops;
  private final AtomicInteger connections = new AtomicInteger();

  Selectors(int threads) throws IOException {
    loops = new Loop[threads];
    for (int i = 0; i < threads; i++) {
      loops[i] = new Loop();
      Thread thread = new Thread(loops[i], "selector-" + i);
      loops[i].thread = thread;
      thread.start();
    }
  }

  @Override
  public Connection connect(Chat chat, Operations operations, SocketChannel channel)
      throws IOException {
    channel.configureBlocking(false);
    int next = Math.floorMod(connections.getAndIncrement(), loops.length);
    return new Selected(chat, operations, channel, loops[next]);
  }

  private static final class Loop implements Runnable {
    private final Selector selector = Selector.open();
    private final byte[] input = new byte[READ_BYTES];
    private final ByteBuffer buffer = ByteBuffer.wrap(input);
    private final Reached reached = new Reached();
    private Thread thread;

    Loop() throws IOException {}

    @Override
    public void run() {
      try {
        while (true) {
          selector.select(key -> ((Selected) key.attachment()).ready(key));
          reached.flush();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Has this loop look again at what it waits for. */
    private void wake() {
      if (Thread.currentThread() != thread) {
        selector.wakeup();
      }
    }
  }

  private static final class Selected extends Connection {
    private final Loop loop;

    private volatile SelectionKey key;

    Selected(Chat chat, Operations operations, SocketChannel channel, Loop loop) {
      super(chat, operations, channel);
      this.loop = loop;
    }

    @Override
    public void start() throws IOException {
      key = channel.register(loop.selector, 0, this);
      // From here on the loop may be at work with it.
      key.interestOps(SelectionKey.OP_READ);
      loop.wake();
    }

    private void ready(SelectionKey selected) {
      try {
        int ready = selected.readyOps();
        if ((ready & SelectionKey.OP_WRITE) != 0) {
          // Before writing: who fills the kernel's buffer after that asks again.
          selected.interestOpsAnd(~SelectionKey.OP_WRITE);
          flush();
        }
        if ((ready & SelectionKey.OP_READ) != 0) {
          read();
        }
      } catch (CancelledKeyException e) {
        // Another thread ended the connection.
      }
    }

    private void read() {
      ByteBuffer buffer = loop.buffer.clear();
      try {
        if (channel.read(buffer) >= 0) {
          session.receive(loop.input, buffer.position(), loop.reached);
          return;
        }
      } catch (IOException e) {
        // Reset by the client: it ends like one that was closed.
      }
      end(End.CLOSED);
    }

    @Override
    protected void flush() {
      if (!drain()) {
        try {
          key.interestOpsOr(SelectionKey.OP_WRITE);
          loop.wake();
        } catch (CancelledKeyException e) {
          // Another thread ended the connection.
        }
      }
    }

    @Override
    protected void closeChannel() {
      super.closeChannel();
      // The channel is closed for good when its loop has looked.
      loop.wake();
    }
  }
}
