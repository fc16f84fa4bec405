package assay.chat;

import assay.chat.engine.Connection;
import assay.chat.engine.Engine;
import assay.chat.room.Audit;
import assay.chat.room.Chat;
import assay.chat.room.Client;
import assay.chat.room.End;
import assay.chat.wire.Operations;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The chat server: accepts connections and hands them to its engine. */
final class Server implements AutoCloseable {
  /** Connections that wait for being accepted; a full queue costs each further one a second. */
  private static final int ACCEPT_QUEUE = 4_096;

  private static final long LOOK_MS = 1_000;

  /** After a connection that could not be accepted, so that the reason can pass. */
  private static final long RETRY_MS = 100;

  /** For how long clients are waited for at the end, who may not read. */
  private static final long GOODBYE_NS = TimeUnit.SECONDS.toNanos(2);

  private static final long GOODBYE_LOOK_NS = TimeUnit.MILLISECONDS.toNanos(2);

  private static final byte[] FULL =
      "error server-full there is no thread for one more connection\n"
          .getBytes(StandardCharsets.US_ASCII);

  private final Chat chat;
  private final Engine engine;
  private final Operations operations;
  private final ServerSocketChannel socket;
  private String refusal = "";

  Server(Settings settings) throws IOException {
    chat = new Chat(settings.limits());
    engine = Engine.named(settings.engine(), settings.selectors());
    operations = new Operations(new Audit(chat, settings.engine()), settings.limits());
    socket = ServerSocketChannel.open();
    try {
      socket.bind(new InetSocketAddress(settings.address(), settings.port()), ACCEPT_QUEUE);
    } catch (IOException e) {
      throw new IOException(
          "CHAT_ADDRESS=%s CHAT_PORT=%d: %s"
              .formatted(settings.address(), settings.port(), e.getMessage()),
          e);
    }
  }

  InetSocketAddress address() throws IOException {
    return (InetSocketAddress) socket.getLocalAddress();
  }

  void start() {
    daemon(this::accept, "acceptor");
    daemon(this::endStalled, "watchdog");
  }

  private static void daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        try {
          connect(socket.accept());
        } catch (ClosedChannelException e) {
          return;
        } catch (IOException e) {
          report(
              e.getMessage()
                  + ": each connection takes a file; raise `ulimit -n` of the server"
                  + " (/proc/sys/fs/nr_open is its limit)");
          Thread.sleep(RETRY_MS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void connect(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    Connection connection = engine.connect(chat, operations, channel);
    chat.connected(connection);
    try {
      connection.start();
    } catch (OutOfMemoryError e) {
      // The JVM has memory: the kernel gave no thread.
      report(
          e.getMessage()
              + ": the kernel's limits are kernel.pid_max, kernel.threads-max and"
              + " vm.max_map_count (sysctl), pids.max of the control group and `ulimit -u`; or"
              + " use CHAT_ENGINE=selector or virtual");
      channel.write(ByteBuffer.wrap(FULL));
      connection.end(End.ERROR);
    }
  }

  /** Says it once, not for each connection. */
  private void report(String why) {
    if (!why.equals(refusal)) {
      refusal = why;
      System.err.println("a connection is refused: " + why);
    }
  }

  private void endStalled() {
    try {
      while (true) {
        Thread.sleep(LOOK_MS);
        for (Client client : chat.clients()) {
          client.endIfStalled(TimeUnit.SECONDS.toMillis(chat.limits().stallSeconds()) / LOOK_MS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Says goodbye to all clients, and waits a moment for those who write it. */
  @Override
  public void close() throws IOException {
    socket.close();
    for (Client client : chat.clients()) {
      ((Connection) client).shutDown();
    }
    long deadline = System.nanoTime() + GOODBYE_NS;
    while (System.nanoTime() < deadline
        && !chat.clients().stream().allMatch(client -> client.outbox().isFinished())) {
      LockSupport.parkNanos(GOODBYE_LOOK_NS);
    }
  }
}
