package assay.chat.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Users who talk at a rate, on one thread, and count the bytes that come. */
final class Crowd implements AutoCloseable {
  private static final int ROOM = 20;
  private static final int TEXT_BYTES = 100;
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
  private static final long NAP_NS = 200_000;

  private final Selector selector = Selector.open();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);
  private final SocketChannel[] users;
  private final long[] sequences;
  private final String text = "x".repeat(TEXT_BYTES);
  private long received;
  private long said;

  Crowd(int port, int connections) throws IOException {
    users = new SocketChannel[connections];
    sequences = new long[connections];
    for (int i = 0; i < connections; i++) {
      users[i] = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      users[i].setOption(StandardSocketOptions.TCP_NODELAY, true);
      write(users[i], "hello 1 %05d\njoin %03d\n".formatted(i, i / ROOM));
      users[i].configureBlocking(false);
      users[i].register(selector, SelectionKey.OP_READ);
      drain();
    }
  }

  /** Speaks at a rate for so long, then waits for all deliveries; how many these were. */
  long talk(double perSecond, long durationNs) throws IOException {
    settle();
    long before = received;
    long expected = 0;
    long saidBefore = said;
    long start = System.nanoTime();
    for (long now = start; now - start < durationNs; now = System.nanoTime()) {
      long due = saidBefore + (long) ((now - start) / 1e9 * perSecond);
      for (int burst = 0; said < due && burst < 64; burst++) {
        expected += say((int) (said * 7919 % users.length));
      }
      drain();
      if (said >= due) {
        LockSupport.parkNanos(NAP_NS);
      }
    }
    long deadline = System.nanoTime() + PATIENCE_NS;
    while (received - before < expected) {
      drain();
      if (System.nanoTime() > deadline) {
        throw new IOException("%d of %d bytes came".formatted(received - before, expected));
      }
    }
    settle();
    if (received - before != expected) {
      throw new IOException("%d bytes came, not %d".formatted(received - before, expected));
    }
    return (said - saidBefore) * (ROOM - 1);
  }

  /** One message; the bytes that the others get of it. */
  private long say(int user) throws IOException {
    String rest = ++sequences[user] + " " + text + "\n";
    write(users[user], "say " + rest);
    said++;
    return (ROOM - 1) * ("from 000 00000 ".length() + (long) rest.length());
  }

  private void write(SocketChannel channel, String line) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII));
    while (bytes.hasRemaining()) {
      if (channel.write(bytes) == 0) {
        drain();
      }
    }
  }

  /** Until nothing has come for a while. */
  private void settle() throws IOException {
    long last = -1;
    while (last != received) {
      last = received;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
      drain();
    }
  }

  private void drain() throws IOException {
    selector.selectNow(
        key -> {
          buffer.clear();
          try {
            int bytes = ((SocketChannel) key.channel()).read(buffer);
            if (bytes < 0) {
              throw new IOException("the server closed a connection");
            }
            received += bytes;
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel user : users) {
      user.close();
    }
    selector.close();
  }
}
